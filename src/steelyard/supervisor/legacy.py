"""Legacy: the children that a killed supervisor left running, and how the next one takes over.

balancers   go on serving; they hand over their listening sockets, and drain when others serve
agent       goes on; it leaves its workers to the next agent
"""

from __future__ import annotations

import asyncio
import os
import signal
import socket
import time
from collections.abc import Callable, Sequence
from contextlib import suppress

from steelyard.config.settings import Settings
from steelyard.config.values import Address
from steelyard.handover import StrangerError, take
from steelyard.runtime.procfs import Process, is_now, send
from steelyard.supervisor.child import Child
from steelyard.supervisor.pidfile import Entry, PidFile, Pids
from steelyard.supervisor.port import Port

# Seconds for a balancer to open its hand-over socket, or for an agent to leave its workers.
PATIENCE = 5.0
PAUSE = 0.02


class Orphan:
    """A process that another supervisor started."""

    def __init__(self, entry: Entry) -> None:
        self.process: Process = entry.process

    def send(self, number: signal.Signals) -> None:
        send(self.process, number)

    async def ended(self) -> None:
        """Wait until the process is gone.

        It is not a child of ours, so waitpid does not work; a pidfd does.
        """
        try:
            descriptor = os.pidfd_open(self.process.pid)
        except ProcessLookupError:
            return
        loop, gone = asyncio.get_running_loop(), asyncio.Event()
        try:
            if is_now(self.process):
                loop.add_reader(descriptor, gone.set)
                await gone.wait()
        finally:
            loop.remove_reader(descriptor)
            os.close(descriptor)

    async def leave(self) -> None:
        """Let an agent end and leave its workers; an agent that hangs is killed, which leaves them,
        too.
        """
        self.send(signal.SIGHUP)
        with suppress(TimeoutError):
            await asyncio.wait_for(self.ended(), PATIENCE)
            return
        self.send(signal.SIGKILL)
        await self.ended()


class Orphans:
    """The balancers that a killed supervisor left, as a generation."""

    def __init__(self, settings: Settings, orphans: Sequence[Orphan]) -> None:
        self.settings = settings
        self.balancers: list[Child] = []  # empty: an orphan cannot be restarted
        self._orphans = orphans

    def __len__(self) -> int:
        return len(self._orphans)

    def tell(self, number: signal.Signals) -> None:
        for orphan in self._orphans:
            orphan.send(number)

    def stop(self, number: signal.Signals = signal.SIGTERM) -> None:
        """Let the balancers finish their open exchanges, and end."""
        self.tell(number)

    def replace(self) -> None:
        """Let the balancers end without hurry, because a newer generation serves the port."""
        self.stop(signal.SIGUSR2)

    async def serving(self) -> None:
        """Return at once: these balancers serve already."""

    async def ended(self) -> None:
        await asyncio.gather(*(orphan.ended() for orphan in self._orphans))


class Legacy:
    """Everything that a killed supervisor left of one gateway."""

    def __init__(
        self,
        settings: Settings,
        agent: Orphan | None = None,
        balancers: Sequence[Orphan] = (),
        port: Port | None = None,
    ) -> None:
        self.agent = agent
        self.balancers = Orphans(settings, balancers)
        self.port = port  # None: no balancer that accepts clients is left

    def __bool__(self) -> bool:
        return self.agent is not None or bool(self.balancers)


def find_legacy(pid_file: PidFile, settings: Settings, say: Callable[[str], None]) -> Legacy:
    """Find the children that the pid file lists, and get the balancers' listening sockets."""
    agents = [Orphan(one) for one in pid_file.before.living("agent")]
    balancers = pid_file.before.living("balancer")
    sockets = [sock for one in balancers for sock in _sockets_of(pid_file, one, say)]
    left = [Orphan(one) for one in balancers]
    return Legacy(settings, agents[0] if agents else None, left, _port(pid_file.before, sockets))


def _port(pids: Pids, sockets: Sequence[socket.socket]) -> Port | None:
    """The port of the newest balancers; None if no balancer handed over a socket.

    Two generations share their sockets. A supervisor that was killed while it changed the address
    also left balancers with sockets of the old address, which close when these balancers end.
    """
    if not sockets:
        return None
    name = sockets[-1].getsockname()
    known: dict[int, socket.socket] = {}
    for sock in sockets:
        inode = os.fstat(sock.fileno()).st_ino
        if inode in known or not (pids.given or sock.getsockname() == name):
            sock.close()
        else:
            known[inode] = sock
    asked = pids.listen or Address(*name[:2])
    return Port.inherited(asked, list(known.values()), given=pids.given)


def _sockets_of(pid_file: PidFile, entry: Entry, say: Callable[[str], None]) -> list[socket.socket]:
    """The listening sockets of a balancer, which is killed if it does not hand them over.

    Otherwise clients that the kernel assigns to its sockets would wait for ever.
    """
    path, trouble = pid_file.folder / f"{entry.name}.sock", "it does not answer"
    end = time.monotonic() + PATIENCE
    while entry.alive and time.monotonic() < end:
        try:
            return take(path, entry.pid, PATIENCE)
        except StrangerError as error:
            trouble = str(error)
            break
        except OSError as error:
            trouble = error.strerror or str(error)
            time.sleep(PAUSE)
    if entry.alive:
        say(
            f"{entry.name} (process {entry.pid}) does not hand over its listening sockets, "
            f"so it is killed: {trouble}"
        )
        send(entry.process, signal.SIGKILL)
        while entry.alive:  # its sockets keep the address until it has ended
            time.sleep(PAUSE)
    return []
