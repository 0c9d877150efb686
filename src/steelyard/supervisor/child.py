"""One child process: it is restarted when it ends unasked, with ever longer pauses.

A balancer says when it is ready to serve, and serves when the supervisor lets it: at once, or, if
it is held, when all balancers of its generation are ready.

The workers of an agent outlive it. If a stop finds the agent dead, between two lives or killed
while it stopped its workers, a last agent is started to stop them. If that one is killed again and
again, too, the supervisor kills the workers itself.
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

FIRST_PAUSE, LONGEST_PAUSE = 0.1, 5.0  # seconds between two lives
STABLE = 10.0  # a process that ends within so many seconds counts as a failed start
OBEYS = 2.0  # seconds after a second request to end, after which a process is killed
CLEARS_UP = 8.0  # the same for a last agent, which has to start first
LAST_LIVES = 3  # how many last agents are started in a row if each of them is killed


class Child:
    """The process of one role, through all of its lives."""

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
        self.status = 0  # exit status of its last life
        self.ready = asyncio.Event()  # the balancer is ready to serve
        self.serving = asyncio.Event()  # the balancer serves
        self.gave_up = asyncio.Event()  # it ended with an error that a restart does not mend
        self._say = say
        self._process: asyncio.subprocess.Process | None = None
        self._stop = asyncio.Event()
        self._leaves = False  # the agent leaves its workers, so no last agent has to stop them
        self._last = False  # a last agent ends by itself: a signal would only disturb it
        self._free = asyncio.Event()  # the balancer may serve as soon as it is ready
        self._untold: set[signal.Signals] = set()  # signals to send once the balancer serves
        self._task: asyncio.Task[None] | None = None
        self._forcing: asyncio.Task[None] | None = None  # runs after the second request to end
        if not held:
            self._free.set()

    @property
    def pid(self) -> int | None:
        return None if self._process is None else self._process.pid

    def start(self, after: int = 0) -> None:
        """Start the process. `after` is the exit status of an earlier process in this role.

        If that one did not end in order, it may have left workers.
        """
        self._task = asyncio.create_task(self._keep_running(after))

    def stop(self, number: signal.Signals = signal.SIGTERM) -> None:
        """End the process, if there is one; from now on it is not restarted."""
        self._stop.set()
        self._free.set()  # `_stand_by` waits for it, and then sees the stop
        self._signal(number)

    def leave(self) -> None:
        """End an agent that leaves its workers to the next one."""
        self._leaves = True
        self.stop(signal.SIGHUP)

    def insist(self) -> None:
        """End the process at once; a process that hangs is killed.

        With the second TERM an agent kills its workers. If the agent itself had to be killed, a
        last agent kills them.
        """
        if self._forcing is None:
            self.stop()
            self.stop()
            self._forcing = asyncio.create_task(self._force())

    def go(self) -> None:
        """Let a balancer serve that was held; from now on it is like any other."""
        self.role = self.role.model_copy(update={"successor": False})
        self._free.set()

    def tell(self, number: signal.Signals) -> None:
        """Send a balancer a signal that is not meant to end it.

        A balancer that is still starting would die of the signal, so it gets it later.
        """
        if self.serving.is_set():
            self._signal(number)
        else:
            self._untold.add(number)

    async def ended(self) -> None:
        """Wait until the process has ended and will not be restarted."""
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
            self._say(f"{self.role.name} ended ({describe(status)}), restarting it")
            self.restarts += 1
            await self._rest(pause)
        if self._leaves:
            return
        if self._stop.is_set():
            await self._clear_up(status)
        else:
            self.gave_up.set()

    async def _rest(self, seconds: float) -> None:
        """Pause for so many seconds, or until a stop is asked for."""
        with suppress(TimeoutError):
            await asyncio.wait_for(self._stop.wait(), seconds)

    async def _clear_up(self, status: int) -> None:
        """Start a last agent if an agent did not end in order, so that it stops the workers."""
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
        """Run the process once, and relay its messages line by line; return its exit status."""
        ours, theirs = socket.socketpair()
        with ours:
            with theirs:
                self._process = process = await self._spawn(role, theirs.fileno())
            # The process is noted before it may serve: if we are killed, the next supervisor could
            # not find it otherwise.
            if self._pid_file is not None:
                self._pid_file.enter(role.part, role.name, process.pid)
            if self._stop.is_set() and not role.last:  # a stop was asked for during the start
                process.terminate()
            self._untold.clear()  # a new process needs no signal from before its start
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
        """Wait until the balancer is ready and may serve, then let it serve, or end it."""
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
                start_new_session=True,  # Ctrl-C reaches the parent only, which stops children
            )
        finally:
            os.close(script)


async def read_line(reader: asyncio.StreamReader) -> bytes:
    """The next line; a notice in place of a line that is too long to be kept."""
    try:
        return await reader.readline()
    except ValueError:
        return b"(a line that is too long to be shown)\n"


def describe(status: int) -> str:
    """The exit status of a process in words."""
    if status >= 0:
        return f"exit code {status}"
    try:
        return f"killed by {signal.Signals(-status).name}"
    except ValueError:  # real-time signals have no names
        return f"killed by signal {-status}"
