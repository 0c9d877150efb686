"""One child process: started again, ever more slowly, when it ends unasked."""

from __future__ import annotations

import asyncio
import os
import signal
import sys
from collections.abc import Callable
from contextlib import suppress

from steelyard.supervisor.entry import USAGE
from steelyard.supervisor.plan import Role

FIRST_PAUSE, LONGEST_PAUSE = 0.1, 5.0
STABLE = 10.0  # seconds after which an end is not a failed start


class Child:
    """A process that plays a role."""

    def __init__(self, role: Role, say: Callable[[str], None]) -> None:
        self.role = role
        self.restarts = 0
        self.gave_up = asyncio.Event()  # it ended with an error that a restart does not mend
        self._say = say
        self._process: asyncio.subprocess.Process | None = None
        self._stopping = False
        self._task: asyncio.Task[None] | None = None

    @property
    def pid(self) -> int | None:
        return None if self._process is None else self._process.pid

    def start(self) -> None:
        self._task = asyncio.create_task(self._keep_running())

    def signal(self, number: signal.Signals) -> None:
        """Signal the process, if there is one; from now on it is not started again."""
        self._stopping = True
        if self._process is not None and self._process.returncode is None:
            with suppress(ProcessLookupError):
                self._process.send_signal(number)

    async def ended(self) -> None:
        """Wait until it has ended for good."""
        if self._task is not None:
            await asyncio.wait({self._task})

    async def _keep_running(self) -> None:
        loop, pause = asyncio.get_running_loop(), FIRST_PAUSE
        while not self._stopping:
            began = loop.time()
            status = await self._run()
            if self._stopping or status == USAGE:
                break
            pause = FIRST_PAUSE if loop.time() - began >= STABLE else min(2 * pause, LONGEST_PAUSE)
            self._say(f"{self.role.name} ended ({describe(status)}), starting it again")
            self.restarts += 1
            await asyncio.sleep(pause)
        if not self._stopping:
            self.gave_up.set()

    async def _run(self) -> int:
        """One life of the process; relay what it says, line by line."""
        self._process = process = await self._spawn()
        if self._stopping:  # asked to stop while it was being started
            process.terminate()
        assert process.stderr is not None  # noqa: S101 - asked for in _spawn
        while line := await process.stderr.readline():
            self._say(line.decode(errors="replace").rstrip())
        return await process.wait()

    async def _spawn(self) -> asyncio.subprocess.Process:
        script = os.memfd_create("steelyard-role")
        try:
            os.write(script, self.role.model_dump_json().encode())
            os.lseek(script, 0, os.SEEK_SET)
            shared = [script] if self.role.listen_fd < 0 else [script, self.role.listen_fd]
            return await asyncio.create_subprocess_exec(
                sys.executable,
                "-m",
                "steelyard.supervisor.entry",
                str(script),
                self.role.name,  # for people who look at the process list
                stdin=asyncio.subprocess.DEVNULL,
                stderr=asyncio.subprocess.PIPE,
                pass_fds=shared,
                start_new_session=True,  # Ctrl-C is the parent's to handle, in its order
            )
        finally:
            os.close(script)


def describe(status: int) -> str:
    """A process's end in words."""
    return f"exit code {status}" if status >= 0 else f"killed by {signal.Signals(-status).name}"
