"""Watches one worker process until its end.

A pidfd reports the end of the process, be it our child or one of an earlier agent. Until we reap a
child, no other process gets its pid, nor its session or group that number. So the reason of the end
is read first, then the remains are killed, and then the child is reaped.
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
    """A worker process, and the requests that were made of it."""

    mark: Mark
    process: Process
    pidfd: int
    asked: bool = False  # the worker was asked to end
    insisted: bool = False  # the worker was killed
    dead: bool = False  # the leader of its session has ended
    # set when nothing of the worker is left
    over: asyncio.Event = field(default_factory=asyncio.Event)
    orphans: Orphans | None = None  # given where no control group holds the worker's processes

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
        """Send SIGTERM to the process group, once: some servers take a second one as "hurry"."""
        if not self.asked and is_now(self.process):
            with contextlib.suppress(ProcessLookupError):
                os.killpg(self.process.pid, signal.SIGTERM)
        self.asked = True

    async def insist(self) -> None:
        """Send SIGKILL to all processes.

        Processes that are forked meanwhile are killed after the leader has ended.
        """
        self.asked = self.insisted = True
        send(self.process, signal.SIGKILL)
        await self._kill_remains()

    async def end(self) -> str:
        """Wait until nothing of the worker is left; return the reason of its end."""
        await wait_for_end(self.pidfd)
        self.dead = True
        reason = end_reason(self.pidfd)
        if reason == CLEAN and not self.asked and await self._remains():
            reason += DAEMON
        await self._sweep()
        reap(self.pidfd)
        return reason

    def let_go(self) -> None:
        """Stop watching the worker."""
        os.close(self.pidfd)

    async def _sweep(self) -> None:
        """Wait until the remains have ended.

        Kill them, unless SIGTERM was sent and the grace still runs: a shell dies of SIGTERM at
        once, while the server that it started still finishes its requests.
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
    """Begin to watch a worker; raise ProcessLookupError if it has just ended."""
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
    """Return when the process has ended: its pidfd becomes readable then."""
    loop = asyncio.get_running_loop()
    ended = asyncio.Event()
    loop.add_reader(pidfd, ended.set)
    try:
        await ended.wait()
    finally:
        loop.remove_reader(pidfd)


def end_reason(pidfd: int) -> str:
    """Why the process ended; its zombie is not reaped."""
    try:
        info = os.waitid(os.P_PIDFD, pidfd, os.WEXITED | os.WNOWAIT)
    except ChildProcessError:
        return "gone"  # the process is not our child, and only a parent is told the exit code
    if info is None:
        return "gone"
    if info.si_code == os.CLD_EXITED:
        return f"exit code {info.si_status}"
    return f"killed by {_signal_name(info.si_status)}"


def reap(pidfd: int) -> None:
    """Reap the zombie, if it is our child."""
    with contextlib.suppress(ChildProcessError):
        os.waitid(os.P_PIDFD, pidfd, os.WEXITED)


def _signal_name(number: int) -> str:
    try:
        return signal.Signals(number).name
    except ValueError:  # real-time signals have no names
        return f"signal {number}"
