"""The repository's compose.yaml, deployed on an engine of the tests."""

from __future__ import annotations

import asyncio
import os
import shutil
import signal
import subprocess
import time
from collections.abc import Callable
from pathlib import Path

from redis import Redis

from steelyard.cli.client import AgentClient
from steelyard.config.values import Address
from steelyard.core.status import FleetStatus
from steelyard.errors import SteelyardError
from tests.compose.images import CACHE, ROOT, context, package_index, wheels
from tests.docker.engine import Engine
from tests.e2e.gateway import free_port

NAME = "steelyard-test"
FILES = ("compose.yaml", "tests/compose/build-on-host.yaml")
IMAGE = "steelyard:local"
WORKER = "steelyard.worker"  # the label of a worker's container
PATIENCE = 240.0


def compose_command() -> list[str]:
    """The command of Compose v2 if there is one, else of v1, else nothing."""
    if shutil.which("docker"):
        found = subprocess.run(["docker", "compose", "version"], capture_output=True)
        if found.returncode == 0:
            return ["docker", "compose"]
    return ["docker-compose"] if shutil.which("docker-compose") else []


class Project:
    """One `docker compose up`."""

    def __init__(self, engine: Engine, **variables: str) -> None:
        self.engine = engine
        self.port = free_port()
        self.environ = {
            **os.environ,
            "DOCKER_HOST": engine.url,
            "DOCKER_SOCKET_VOLUME": str(engine.socket),
            "DOCKER_GID": str(engine.socket.stat().st_gid),
            "HOST_PORT_HTTP_BALANCER": str(self.port),
            **variables,
        }

    def compose(self, *words: str, **variables: str) -> str:
        """Run one command of Compose; return its output."""
        files = [word for file in FILES for word in ("--file", file)]
        done = subprocess.run(
            [*compose_command(), "--project-name", NAME, *files, *words],
            cwd=ROOT, env={**self.environ, **variables},
            stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
        )  # fmt: skip
        assert done.returncode == 0, done.stdout
        return done.stdout

    async def do(self, *words: str, **variables: str) -> str:
        """Run a command of Compose in a thread, while this thread's requests go on."""
        return await asyncio.to_thread(lambda: self.compose(*words, **variables))

    def build(self) -> None:
        """Build the image as a user does, with local wheels for pip; or load an earlier build."""
        kept = CACHE / f"image-{context()}.tar"
        if kept.exists():
            self._docker("load", "--input", str(kept))
            return
        folder = wheels()  # before we enter the engine's network, which has no route to a mirror
        with self.engine.network.entered(), package_index(folder) as arguments:
            self.compose("build", STEELYARD_PURE="1", **arguments)
        for old in CACHE.glob("image-*.tar"):
            old.unlink(missing_ok=True)
        self._docker("save", "--output", str(kept), IMAGE)

    def copy_to(self, other: Engine) -> None:
        """Load the image into another engine, too."""
        kept = CACHE / f"image-{context()}.tar"
        self._docker("--host", other.url, "load", "--input", str(kept))

    def _docker(self, *words: str) -> None:
        subprocess.run(["docker", *words], env=self.environ, check=True, stdout=subprocess.DEVNULL)

    def clear(self) -> None:
        """Remove everything that a test has left."""
        for one in self.engine.ask("GET", "/containers/json?all=1"):
            if WORKER in one["Labels"]:
                self.engine.remove(one["Id"])
        self.compose("down", "--volumes", "--remove-orphans")

    # The parts of the system.

    def container(self, part: str) -> str:
        """The id of a part's container."""
        label = f"com.docker.compose.service={part}"
        query = f'/containers/json?all=1&filters={{"label":["{label}"]}}'
        [found] = self.engine.ask("GET", query)
        return str(found["Id"])

    def pid(self, part: str) -> int:
        return int(self.engine.inspect(self.container(part))["State"]["Pid"])

    def kill(self, name: str) -> None:
        """Kill a container's process as the kernel would: `docker kill` prevents the restart."""
        os.kill(int(self.engine.inspect(name)["State"]["Pid"]), signal.SIGKILL)

    async def restarted(self, part: str) -> None:
        """Wait until the part's container runs again by itself, and is healthy."""
        name = self.container(part)

        def runs() -> bool:
            found = self.engine.inspect(name)
            return found["RestartCount"] > 0 and found["State"]["Health"]["Status"] == "healthy"

        await until(runs, f"{part} is not back")

    def address(self, part: str) -> str:
        """The part's address on the network that only parts are on."""
        networks = self.engine.inspect(self.container(part))["NetworkSettings"]["Networks"]
        return str(networks[f"{NAME}_control"]["IPAddress"])

    def records(self) -> dict[str, str]:
        """The workers' records in Redis."""
        with Redis(self.address("redis"), decode_responses=True) as client:
            return client.hgetall("steelyard:1:{app}:workers")

    # The fleet, as the agent reports it.

    def status(self) -> FleetStatus | None:
        try:
            return AgentClient(Address(self.address("agent"), 8081), self._token(), 5).status()
        except (SteelyardError, ValueError):
            return None  # the agent is starting

    async def fleet(self, true: Callable[[FleetStatus], bool]) -> FleetStatus:
        """Wait until a status satisfies the condition."""
        told: list[FleetStatus | None] = [None]

        def look() -> bool:
            told[0] = self.status()
            return told[0] is not None and true(told[0])

        await until(look, "the fleet is not as it should be", lambda: f"{told}\n{self.logs()}")
        assert told[0] is not None
        return told[0]

    def logs(self) -> str:
        return self.compose("logs", "--no-color", "--tail=50")

    def _token(self) -> Path:
        return self.engine.folder / "data" / "volumes" / f"{NAME}_state" / "_data" / "token"


async def until(true: Callable[[], bool], what: str, more: Callable[[], str] = str) -> None:
    deadline = time.monotonic() + PATIENCE
    while not await asyncio.to_thread(true):
        assert time.monotonic() < deadline, f"{what}\n{more()}"
        await asyncio.sleep(0.2)


def serves(workers: int) -> Callable[[FleetStatus], bool]:
    """A condition: this many workers are ready, and the balancers are connected."""

    def true(told: FleetStatus) -> bool:
        linked = [one for one in told.balancers if one.connected]
        return told.ready == workers == len(told.workers) and len(linked) >= 2

    return true
