"""The runtimes that the contract suite binds: how to make one, and how to do harm to its workers.

A new runtime joins by a class here and its name in RUNTIMES.
"""

from __future__ import annotations

import asyncio
import contextlib
import os
import random
import signal
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Protocol

from steelyard.config import settings
from steelyard.runtime.base import Running, Runtime
from steelyard.runtime.cgroup import ROOT
from steelyard.runtime.process import ProcessRuntime
from steelyard.runtime.stub import StubMachine, StubRuntime

COMMAND = ("sh", "-c", "echo first; echo listens on {port}; exec sleep 1000")


class Bench(Protocol):
    """One machine, on which runtimes of one application come and go."""

    def runtime(self) -> Runtime:
        """A new runtime, as a restarted agent would make it; not open yet."""

    def kill(self, worker: Running) -> None:
        """Kill a worker behind the runtime's back."""

    async def orphans(self, names: list[str]) -> None:
        """Leave workers behind that an agent started before it was killed with -9."""


def process_runtime(
    folder: Path, command: tuple[str, ...], cgroups: Path = ROOT, **runtime: object
) -> ProcessRuntime:
    """A process runtime with defaults for all but the command."""
    return ProcessRuntime(
        settings.Application(command=command),
        settings.Runtime.model_validate(runtime),
        folder,
        random.Random(),
        cgroups=cgroups,
    )


class ProcessBench:
    """Real processes."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder

    def runtime(self) -> ProcessRuntime:
        return process_runtime(self._folder, COMMAND)

    def kill(self, worker: Running) -> None:
        os.kill(int(worker.handle), signal.SIGKILL)

    async def orphans(self, names: list[str]) -> None:
        await asyncio.to_thread(start_and_die, self._folder, COMMAND, names)


class StubBench:
    """Workers in memory."""

    def __init__(self, folder: Path) -> None:
        self._machine = StubMachine()

    def runtime(self) -> StubRuntime:
        return StubRuntime(self._machine)

    def kill(self, worker: Running) -> None:
        StubRuntime(self._machine).die(worker.name, "killed by SIGKILL")

    async def orphans(self, names: list[str]) -> None:
        agent = self.runtime()
        for name in names:
            await agent.start(name)


RUNTIMES: dict[str, Callable[[Path], Bench]] = {"process": ProcessBench, "stub": StubBench}

AGENT = """
import asyncio, os, signal, sys
from pathlib import Path
from tests.contract.runtimes import process_runtime

async def main(folder, names, *command):
    runtime = process_runtime(Path(folder), command)
    await runtime.open()
    for name in names.split(","):
        print((await runtime.start(name)).handle, flush=True)
    os.kill(os.getpid(), signal.SIGKILL)

asyncio.run(main(*sys.argv[1:]))
"""


def kill_marked(folder: Path) -> None:
    """Kill whatever was started below a test's folder, without help of what is tested."""
    mark = f"STEELYARD_HOME={folder}".encode()
    for path in Path("/proc").glob("[0-9]*/environ"):
        with contextlib.suppress(OSError):
            if mark in path.read_bytes():
                os.kill(int(path.parent.name), signal.SIGKILL)


def start_and_die(folder: Path, command: tuple[str, ...], names: list[str]) -> list[int]:
    """Run a separate agent that starts workers and is killed with -9; the workers' pids."""
    done = subprocess.run(
        [sys.executable, "-c", AGENT, str(folder), ",".join(names), *command],
        stdout=subprocess.PIPE,
        text=True,
    )
    assert done.returncode == -signal.SIGKILL
    return [int(pid) for pid in done.stdout.split()]
