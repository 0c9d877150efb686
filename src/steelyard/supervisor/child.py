"""One child process: started again, ever more slowly, when it ends unasked.

An agent has workers that outlive it. When a stop finds it dead, between two lives or killed while
it stopped them, a last one is started to do so.
"""

from __future__ import annotations

import asyncio
import os
import signal
import sys
from collections.abc import Callable
from contextlib import suppress

from steelyard.supervisor.entry import USAGE
from steelyard.supervisor.plan import Role, last_role

FIRST_PAUSE, LONGEST_PAUSE = 0.1, 5.0
STABLE = 10.0  # seconds after which an end is not a failed start
LAST_LIVES = 3  # of an agent that is killed again and again while it stops its workers


class Child:
    """A process that plays a role."""

    def __init__(self, role: Role, say: Callable[[str], None]) -> None:
        self.role = role
        self.restarts = 0
        self.gave_up = asyncio.Event()  # it ended with an error that a restart does not mend
        self._say = say
        self._process: asyncio.subprocess.Process | None = None
        self._stop = asyncio.Event()
        self._last = False  # it ends by itself: a signal could only keep it from its work
        self._task: asyncio.Task[None] | None = None

    @property
    def pid(self) -> int | None:
        return None if self._process is None else self._process.pid

    def start(self) -> None:
        self._task = asyncio.create_task(self._keep_running())

    def stop(self, number: signal.Signals = signal.SIGTERM) -> None:
        """End the process, if there is one; from now on it is not started again."""
        self._stop.set()
        self._signal(number)

    def tell(self, number: signal.Signals) -> None:
        """Signal a process that is to live on."""
        if not self._stop.is_set():
            self._signal(number)

    async def ended(self) -> None:
        """Wait until it has ended for good."""
        if self._task is not None:
            await asyncio.wait({self._task})

    def _signal(self, number: signal.Signals) -> None:
        if self._process is not None and self._process.returncode is None and not self._last:
            with suppress(ProcessLookupError):
                self._process.send_signal(number)

    async def _keep_running(self) -> None:
        loop, pause, status = asyncio.get_running_loop(), FIRST_PAUSE, 0
        while not self._stop.is_set():
            began = loop.time()
            status = await self._run(self.role)
            if self._stop.is_set() or status == USAGE:
                break
            pause = FIRST_PAUSE if loop.time() - began >= STABLE else min(2 * pause, LONGEST_PAUSE)
            self._say(f"{self.role.name} ended ({describe(status)}), starting it again")
            self.restarts += 1
            await self._rest(pause)
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
        for _ in range(LAST_LIVES if self.role.part == "agent" else 0):
            if status in (0, USAGE):
                break
            self._say(f"{self.role.name} ended ({describe(status)}), stopping its workers")
            self._last = True
            status = await self._run(last_role(self.role))

    async def _run(self, role: Role) -> int:
        """One life of the process; relay what it says, line by line."""
        self._process = process = await self._spawn(role)
        if self._stop.is_set() and not role.last:  # asked to stop while it was being started
            process.terminate()
        assert process.stderr is not None  # noqa: S101 - asked for in _spawn
        while line := await read_line(process.stderr):
            self._say(line.decode(errors="replace").rstrip())
        return await process.wait()

    async def _spawn(self, role: Role) -> asyncio.subprocess.Process:
        script = os.memfd_create("steelyard-role")
        try:
            os.write(script, role.model_dump_json().encode())
            os.lseek(script, 0, os.SEEK_SET)
            shared = [script] if role.listen_fd < 0 else [script, role.listen_fd]
            return await asyncio.create_subprocess_exec(
                sys.executable,
                "-m",
                "steelyard.supervisor.entry",
                str(script),
                role.name,  # for people who look at the process list
                stdin=asyncio.subprocess.DEVNULL,
                stderr=asyncio.subprocess.PIPE,
                pass_fds=shared,
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
