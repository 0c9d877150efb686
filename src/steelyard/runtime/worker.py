"""One worker process that is looked after, from now to its end.

A pidfd tells of its end, be it our child or an earlier agent's. Until we reap a child its pid,
and with it the number of its session and group, belongs to nobody else; so the reason is read
first, then the remains are swept, then it is reaped.
"""

from __future__ import annotations

import asyncio
import contextlib
import os
import signal
from dataclasses import dataclass, field

from steelyard.runtime import cgroup, scan
from steelyard.runtime.base import Running
from steelyard.runtime.marks import Mark
from steelyard.runtime.orphans import Orphans
from steelyard.runtime.procfs import Process, is_now, send

CLEAN = "exit code 0"
DAEMON = " and left processes behind: the command has to stay in the foreground"


@dataclass(slots=True, eq=False)
class Worker:
    """A worker, and what has been asked of it."""

    mark: Mark
    process: Process
    pidfd: int
    asked: bool = False  # to end
    insisted: bool = False  # that it end at once
    dead: bool = False  # its leader is
    over: asyncio.Event = field(default_factory=asyncio.Event)  # nothing of it is left
    orphans: Orphans | None = None  # where no control group tells what belongs to it

    @property
    def running(self) -> Running:
        """The worker as the agent sees it."""
        return Running(
            name=self.mark.name,
            host="127.0.0.1",
            port=self.mark.port,
            handle=str(self.process.pid),
            allowance=self.mark.allowance,
        )

    async def ask(self) -> None:
        """TERM to the group, once: some servers take a second one for impatience."""
        if not self.asked and is_now(self.process):
            with contextlib.suppress(ProcessLookupError):
                os.killpg(self.process.pid, signal.SIGTERM)
        self.asked = True

    async def insist(self) -> None:
        """KILL to all of it; what forks away meanwhile is swept when the leader has ended."""
        self.asked = self.insisted = True
        send(self.process, signal.SIGKILL)
        await self._kill_remains()

    async def end(self) -> str:
        """Wait until nothing of it is left; why it ended."""
        await wait_for_end(self.pidfd)
        self.dead = True
        reason = end_reason(self.pidfd)
        if reason == CLEAN and not self.asked and await self._remains():
            reason += DAEMON
        await self._sweep()
        reap(self.pidfd)
        return reason

    def let_go(self) -> None:
        """Look after it no longer."""
        os.close(self.pidfd)

    async def _sweep(self) -> None:
        """Wait for the remains to end; after a TERM that we sent they may do so by themselves.

        A shell dies of TERM at once, while the server it started still finishes its requests.
        """
        spared = self.asked and not self.insisted
        while left := await (self._remains() if spared else self._kill_remains()):
            await wait_for_process(left[0])
            spared = self.asked and not self.insisted

    async def _kill_remains(self) -> list[Process]:
        for group in self.mark.groups:
            await asyncio.to_thread(cgroup.kill_members, group)
        left = await self._remains()
        for process in left:
            send(process, signal.SIGKILL)
        return left

    async def _remains(self) -> list[Process]:
        left = await asyncio.to_thread(scan.remains, self.process, self.mark)
        return left + [one for one in self._orphans() if one not in left]

    def _orphans(self) -> list[Process]:
        return self.orphans.left_by(self.process) if self.orphans and self.dead else []


def look_after(mark: Mark, process: Process, orphans: Orphans | None = None) -> Worker:
    """Get hold of a worker; ProcessLookupError: it has just gone."""
    pidfd = os.pidfd_open(process.pid)
    if not is_now(process):
        os.close(pidfd)
        raise ProcessLookupError(process.pid)
    return Worker(mark, process, pidfd, orphans=orphans)


async def wait_for_process(process: Process) -> None:
    """Return when exactly this process has ended."""
    try:
        pidfd = os.pidfd_open(process.pid)
    except ProcessLookupError:
        return
    try:
        if is_now(process):
            await wait_for_end(pidfd)
    finally:
        os.close(pidfd)


async def wait_for_end(pidfd: int) -> None:
    """Return when the process has ended: its pidfd is readable then."""
    loop = asyncio.get_running_loop()
    ended = asyncio.Event()
    loop.add_reader(pidfd, ended.set)
    try:
        await ended.wait()
    finally:
        loop.remove_reader(pidfd)


def end_reason(pidfd: int) -> str:
    """Why it ended; the zombie stays."""
    try:
        info = os.waitid(os.P_PIDFD, pidfd, os.WEXITED | os.WNOWAIT)
    except ChildProcessError:
        return "gone"  # not our child: only its parent is told the code
    if info is None:
        return "gone"
    if info.si_code == os.CLD_EXITED:
        return f"exit code {info.si_status}"
    return f"killed by {_signal_name(info.si_status)}"


def reap(pidfd: int) -> None:
    """Take the zombie away, if it is our child."""
    with contextlib.suppress(ChildProcessError):
        os.waitid(os.P_PIDFD, pidfd, os.WEXITED)


def _signal_name(number: int) -> str:
    try:
        return signal.Signals(number).name
    except ValueError:  # real-time signals have no names
        return f"signal {number}"
