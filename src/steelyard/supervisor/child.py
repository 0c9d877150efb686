"""One child process: started again, ever more slowly, when it ends unasked.

A balancer says when it could serve, and does so when it is let go: at once, or for one that is
held, when all others of its generation could, too.

An agent has workers that outlive it. When a stop finds it dead, between two lives or killed while
it stopped them, a last one is started to do so. When even that is killed again and again, the
supervisor kills the workers itself.
"""

from __future__ import annotations

import asyncio
import os
import signal
import socket
from collections.abc import Callable
from contextlib import suppress

from steelyard.python import module
from steelyard.supervisor.channel import hang_up, is_ready, let_go
from steelyard.supervisor.entry import USAGE
from steelyard.supervisor.last_resort import kill_workers
from steelyard.supervisor.pidfile import PidFile
from steelyard.supervisor.plan import Role, last_role

FIRST_PAUSE, LONGEST_PAUSE = 0.1, 5.0
STABLE = 10.0  # seconds after which an end is not a failed start
OBEYS = 2.0  # seconds that a process has to act on a second request to end, before it is killed
CLEARS_UP = 8.0  # the same for a last agent, which has to start first
LAST_LIVES = 3  # of an agent that is killed again and again while it stops its workers


class Child:
    """A process that plays a role."""

    def __init__(
        self,
        role: Role,
        say: Callable[[str], None],
        *,
        held: bool = False,
        pid_file: PidFile | None = None,
    ) -> None:
        self.role = role
        self._pid_file = pid_file  # where the next supervisor finds the process
        self.restarts = 0
        self.status = 0  # of its last life
        self.ready = asyncio.Event()  # a balancer that could serve
        self.serving = asyncio.Event()  # a balancer that does
        self.gave_up = asyncio.Event()  # it ended with an error that a restart does not mend
        self._say = say
        self._process: asyncio.subprocess.Process | None = None
        self._stop = asyncio.Event()
        self._leaves = False  # an agent that leaves its workers has nothing to clear up
        self._last = False  # it ends by itself: a signal could only keep it from its work
        self._free = asyncio.Event()  # to serve
        self._untold: set[signal.Signals] = set()
        self._task: asyncio.Task[None] | None = None
        self._forcing: asyncio.Task[None] | None = None  # from the second request to end
        if not held:
            self._free.set()

    @property
    def pid(self) -> int | None:
        return None if self._process is None else self._process.pid

    def start(self, after: int = 0) -> None:
        """`after` is how one before it ended: one that did not in order has left something."""
        self._task = asyncio.create_task(self._keep_running(after))

    def stop(self, number: signal.Signals = signal.SIGTERM) -> None:
        """End the process, if there is one; from now on it is not started again."""
        self._stop.set()
        self._free.set()  # to leave: it need not wait for its word any more
        self._signal(number)

    def leave(self) -> None:
        """End an agent, and have it leave its workers to the next one."""
        self._leaves = True
        self.stop(signal.SIGHUP)

    def insist(self) -> None:
        """End the process at once; one that hangs is killed.

        The second TERM has an agent kill its workers. Of an agent that had to be killed the last
        life does so.
        """
        if self._forcing is None:
            self.stop()
            self.stop()
            self._forcing = asyncio.create_task(self._force())

    def go(self) -> None:
        """Let one that was held serve; from now on it is like any other."""
        self.role = self.role.model_copy(update={"successor": False})
        self._free.set()

    def tell(self, number: signal.Signals) -> None:
        """Signal a balancer that is to live on; one that is starting would die of it, so later."""
        if self.serving.is_set():
            self._signal(number)
        else:
            self._untold.add(number)

    async def ended(self) -> None:
        """Wait until it has ended for good."""
        if self._task is not None:
            await asyncio.wait({self._task})

    def _signal(self, number: signal.Signals) -> None:
        if self._process is not None and self._process.returncode is None and not self._last:
            with suppress(ProcessLookupError):
                self._process.send_signal(number)

    async def _force(self) -> None:
        while self._task is not None and not self._task.done():
            hanging = self._process
            await asyncio.wait({self._task}, timeout=CLEARS_UP if self._last else OBEYS)
            if hanging is not None and hanging is self._process and hanging.returncode is None:
                hanging.kill()

    async def _keep_running(self, status: int) -> None:
        loop, pause = asyncio.get_running_loop(), FIRST_PAUSE
        while not self._stop.is_set():
            began = loop.time()
            status = await self._run(self.role)
            if self._stop.is_set() or status == USAGE:
                break
            pause = FIRST_PAUSE if loop.time() - began >= STABLE else min(2 * pause, LONGEST_PAUSE)
            self._say(f"{self.role.name} ended ({describe(status)}), starting it again")
            self.restarts += 1
            await self._rest(pause)
        if self._leaves:
            return
        if self._stop.is_set():
            await self._clear_up(status)
        else:
            self.gave_up.set()

    async def _rest(self, seconds: float) -> None:
        """Pause, but for no longer than until the stop."""
        with suppress(TimeoutError):
            await asyncio.wait_for(self._stop.wait(), seconds)

    async def _clear_up(self, status: int) -> None:
        """Have an agent that did not end in order followed by one that does."""
        if self.role.part != "agent":
            return
        for _ in range(LAST_LIVES):
            if status in (0, USAGE):
                return
            self._say(f"{self.role.name} ended ({describe(status)}), stopping its workers")
            self._last = True
            status = await self._run(last_role(self.role, at_once=self._forcing is not None))
        if status not in (0, USAGE):
            await kill_workers(self.role.settings, self._say)

    async def _run(self, role: Role) -> int:
        """One life of the process; relay what it says, line by line."""
        ours, theirs = socket.socketpair()
        with ours:
            with theirs:
                self._process = process = await self._spawn(role, theirs.fileno())
            if self._pid_file is not None:  # before it may serve: nobody could find it afterwards
                self._pid_file.enter(role.part, role.name, process.pid)
            if self._stop.is_set() and not role.last:  # asked to stop while it was being started
                process.terminate()
            self._untold.clear()  # what it would be told it has not missed
            standing_by = asyncio.create_task(self._stand_by(ours))
            assert process.stderr is not None  # noqa: S101 - asked for in _spawn
            while line := await read_line(process.stderr):
                self._say(line.decode(errors="replace").rstrip())
            standing_by.cancel()
            await asyncio.wait({standing_by})
        self.ready.clear()
        self.serving.clear()
        self.status = await process.wait()
        if self._pid_file is not None:
            self._pid_file.strike(process.pid)
        return self.status

    async def _stand_by(self, channel: socket.socket) -> None:
        """From its word that it could serve to its serving, or to a stop."""
        channel.setblocking(False)
        if not await is_ready(channel):
            return
        self.ready.set()
        await self._free.wait()
        if self._stop.is_set():
            hang_up(channel)
        elif await let_go(channel):
            self.serving.set()
            for number in self._untold:
                self._signal(number)

    async def _spawn(self, role: Role, channel: int) -> asyncio.subprocess.Process:
        script = os.memfd_create("steelyard-role")
        try:
            told = role.model_copy(update={"channel": channel})
            os.write(script, told.model_dump_json().encode())
            os.lseek(script, 0, os.SEEK_SET)
            return await asyncio.create_subprocess_exec(
                # The name is for people who look at the process list.
                *module("steelyard.supervisor.entry", str(script), role.name),
                stdin=asyncio.subprocess.DEVNULL,
                stderr=asyncio.subprocess.PIPE,
                pass_fds=[script, channel, *role.listen_fds],
                start_new_session=True,  # Ctrl-C is the parent's to handle, in its order
            )
        finally:
            os.close(script)


async def read_line(reader: asyncio.StreamReader) -> bytes:
    """The next line; of one too long to be kept, that there was one."""
    try:
        return await reader.readline()
    except ValueError:
        return b"(a line too long to be shown)\n"


def describe(status: int) -> str:
    """A process's end in words."""
    if status >= 0:
        return f"exit code {status}"
    try:
        return f"killed by {signal.Signals(-status).name}"
    except ValueError:  # real-time signals have no names
        return f"killed by signal {-status}"
