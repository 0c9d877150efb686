"""The runtimes that the contract suite binds: how to make one, and how to harm its workers.

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
from steelyard.runtime.docker.runtime import DockerRuntime
from steelyard.runtime.process import ProcessRuntime
from steelyard.runtime.stub import StubMachine, StubRuntime
from steelyard.runtime.swarm.runtime import SwarmRuntime
from tests.docker.engine import BASE, MOUNTS, Engine
from tests.docker.swarm import Swarm
from tests.ports import WORKERS

COMMAND = ("sh", "-c", "echo first; echo listens on {port}; exec sleep 1000")
# In containers all workers have the same port, so the line has the worker's name.
TALK = ("sh", "-c", "echo first; echo $STEELYARD_WORKER listens on {port}; exec sleep 1000")


class Bench(Protocol):
    """One machine, on which runtimes of one application come and go."""

    host: str  # the host at which its workers are reached

    def runtime(self) -> Runtime:
        """A new runtime, as a restarted agent would make it; not open yet."""

    def kill(self, worker: Running) -> None:
        """Kill a worker without the runtime."""

    def printed(self, worker: Running) -> str:
        """A word that only this worker prints."""

    async def orphans(self, names: list[str]) -> None:
        """Leave workers behind that an agent started before it was killed with -9."""


def process_runtime(
    folder: Path, command: tuple[str, ...], cgroups: Path = ROOT, **runtime: object
) -> ProcessRuntime:
    """A process runtime with defaults for all but the command."""
    return ProcessRuntime(
        settings.Application(command=command),
        settings.Runtime.model_validate({"ports": WORKERS, **runtime}),
        folder,
        random.Random(),
        cgroups=cgroups,
    )


class ProcessBench:
    """Real processes."""

    host = "127.0.0.1"

    def __init__(self, folder: Path) -> None:
        self._folder = folder

    def runtime(self) -> ProcessRuntime:
        return process_runtime(self._folder, COMMAND)

    def kill(self, worker: Running) -> None:
        os.kill(int(worker.handle), signal.SIGKILL)

    def printed(self, worker: Running) -> str:
        return str(worker.port)

    async def orphans(self, names: list[str]) -> None:
        await asyncio.to_thread(start_and_die, self._folder, COMMAND, names)


class StubBench:
    """Workers in memory."""

    host = "127.0.0.1"

    def __init__(self, folder: Path) -> None:
        self._machine = StubMachine()

    def runtime(self) -> StubRuntime:
        return StubRuntime(self._machine)

    def kill(self, worker: Running) -> None:
        StubRuntime(self._machine).die(worker.name, "killed by SIGKILL")

    def printed(self, worker: Running) -> str:
        return str(worker.port)

    async def orphans(self, names: list[str]) -> None:
        agent = self.runtime()
        for name in names:
            await agent.start(name)


def docker_runtime(
    folder: Path, command: tuple[str, ...] = TALK, **runtime: object
) -> DockerRuntime:
    """A Docker runtime with defaults for the tests' engine, which is $DOCKER_HOST."""
    given = {"image": BASE, "port": 8000, "volumes": MOUNTS, **runtime}
    return DockerRuntime(
        settings.Application(command=command), settings.Runtime.model_validate(given), folder
    )


class DockerBench:
    """Real containers."""

    host = "127.0.0.1"

    def __init__(self, folder: Path, engine: Engine) -> None:
        self._folder = folder
        self._engine = engine

    def runtime(self) -> DockerRuntime:
        return docker_runtime(self._folder)

    def kill(self, worker: Running) -> None:
        self._engine.ask("POST", f"/containers/{worker.handle}/kill")

    def printed(self, worker: Running) -> str:
        return worker.name

    async def orphans(self, names: list[str]) -> None:
        await asyncio.to_thread(leave_orphans, "docker", self._folder, TALK, names)


def swarm_runtime(folder: Path, command: tuple[str, ...] = TALK, **runtime: object) -> SwarmRuntime:
    """A Swarm runtime with defaults for the tests' swarm, whose manager is $DOCKER_HOST.

    The image is not pulled: a node would ask a registry at each start.
    """
    given = {"image": BASE, "port": 8000, "volumes": MOUNTS, "pull": "never", **runtime}
    return SwarmRuntime(
        settings.Application(command=command),
        settings.Runtime.model_validate({"kind": "swarm", **given}),
        folder,
    )


class SwarmBench:
    """Real services."""

    def __init__(self, folder: Path, swarm: Swarm) -> None:
        self._folder = folder
        self._swarm = swarm
        self.host = swarm.addresses[0]

    def runtime(self) -> SwarmRuntime:
        return swarm_runtime(self._folder)

    def kill(self, worker: Running) -> None:
        self._swarm.kill(worker.name)

    def printed(self, worker: Running) -> str:
        return worker.name

    async def orphans(self, names: list[str]) -> None:
        await asyncio.to_thread(leave_orphans, "swarm", self._folder, TALK, names)


RUNTIMES: dict[str, Callable[..., Bench]] = {
    "process": ProcessBench,
    "stub": StubBench,
    "docker": DockerBench,
    "swarm": SwarmBench,
}
# The fixture that a runtime needs, keyed by the runtime's name.
NEEDS = {"docker": "docker", "swarm": "swarm"}

AGENT = """
import asyncio, os, signal, sys
from pathlib import Path
from tests.contract import runtimes

async def main(kind, folder, names, *command):
    runtime = getattr(runtimes, f"{kind}_runtime")(Path(folder), command)
    await runtime.open()
    for name in names.split(","):
        print((await runtime.start(name)).handle, flush=True)
    os.kill(os.getpid(), signal.SIGKILL)

asyncio.run(main(*sys.argv[1:]))
"""


def kill_marked(folder: Path) -> None:
    """Kill every process that was started below a test's folder, without the code under test."""
    mark = f"STEELYARD_HOME={folder}".encode()
    for path in Path("/proc").glob("[0-9]*/environ"):
        with contextlib.suppress(OSError):
            if mark in path.read_bytes():
                os.kill(int(path.parent.name), signal.SIGKILL)


def leave_orphans(kind: str, folder: Path, command: tuple[str, ...], names: list[str]) -> list[str]:
    """Run an agent that starts workers and is killed with -9; return the handles."""
    done = subprocess.run(
        [sys.executable, "-c", AGENT, kind, str(folder), ",".join(names), *command],
        stdout=subprocess.PIPE,
        text=True,
    )
    assert done.returncode == -signal.SIGKILL
    return done.stdout.split()


def start_and_die(folder: Path, command: tuple[str, ...], names: list[str]) -> list[int]:
    """Leave processes behind in the same way; return their pids."""
    return [int(pid) for pid in leave_orphans("process", folder, command, names)]
