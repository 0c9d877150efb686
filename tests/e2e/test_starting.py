"""Parts that are started in the wrong order wait for each other, and say what they wait for."""

from __future__ import annotations

import asyncio
import json
import os
import signal
import subprocess
import sys
from http import HTTPStatus
from pathlib import Path
from urllib.error import HTTPError

import psutil
import pytest

from tests.e2e.containers import DEMO, FLAGS
from tests.e2e.gateway import DEMO as PROCESS
from tests.e2e.gateway import QUICK, Gateway, free_port
from tests.e2e.test_redis import kept
from tests.redis_server import RedisServer
from tests.waiting import until


class Part:
    """One `steelyard` command, and its log."""

    def __init__(self, log: Path, *words: str) -> None:
        self._log = log
        with log.open("wb") as file:
            self.process = subprocess.Popen(
                [sys.executable, "-m", "steelyard", *words], stdin=subprocess.DEVNULL, stderr=file
            )

    async def says(self, text: str) -> None:
        async def look() -> bool:
            assert self.process.poll() is None, self._log.read_text()
            return text in self._log.read_text()

        await until(look)

    def stop(self) -> int:
        self.process.send_signal(signal.SIGTERM)
        return self.process.wait()


@pytest.fixture
def begin(tmp_path):
    """Starts parts; none of their processes survives the test."""
    made: list[Part] = []

    def start(*words: str) -> Part:
        made.append(Part(tmp_path / f"part-{len(made)}.log", *words))
        return made[-1]

    yield start
    for one in made:
        balancers = psutil.Process(one.process.pid).children() if one.process.poll() is None else []
        one.process.kill()
        one.process.wait()
        for balancer in balancers:  # balancers would go on without their supervisor
            balancer.kill()


@pytest.fixture
def fleet(tmp_path):
    """The fleet as a test sees it."""
    view = Gateway(tmp_path / "state")
    view.home.mkdir()
    view.log.touch()
    yield view
    view.destroy()


def serves(fleet: Gateway) -> bool:
    """Whether the balancer has heard of a worker; a status may be a moment ahead of it."""
    try:
        return bool(fleet.get("/whoami"))
    except HTTPError as error:
        if error.code != HTTPStatus.SERVICE_UNAVAILABLE:
            raise
        return False


@pytest.mark.needs("redis")
async def test_balancer_then_agent_then_redis(begin, fleet, tmp_path):
    """Each part says what it waits for; limits from an earlier life are read when Redis comes."""
    server = RedisServer(tmp_path)
    limits = {"min": 2, "max": 5, "configured_min": 1, "configured_max": 3}
    balancer = begin(
        "balancer", "--state", str(fleet.home), "--listen", f"127.0.0.1:{fleet.port}",
        "--agent", f"127.0.0.1:{fleet.agent_port}", "--agent", f"127.0.0.1:{free_port()}",
    )  # fmt: skip
    await balancer.says(f"no token at {fleet.home / 'token'} yet")
    agent = begin(
        "agent", "--state", str(fleet.home), "--agent-listen", f"127.0.0.1:{fleet.agent_port}",
        "--store", server.url, "--min", "1", "--max", "3", *QUICK, "--", *PROCESS,
    )  # fmt: skip
    await agent.says("going on from memory")
    told = await fleet.ready(1)
    assert (told.min, told.max) == (1, 3)
    await until(lambda: asyncio.to_thread(serves, fleet))
    with server:
        server.ask("SET", "steelyard:1:{app}:limits", json.dumps(limits))
        told = await fleet.until(lambda told: told.ready == 2)
        assert (told.min, told.max) == (2, 5)
        names = {worker.name for worker in told.workers}
        await until(lambda: asyncio.to_thread(lambda: kept(server).keys() == names))
        assert agent.stop() == 0
    assert balancer.stop() == 0


@pytest.mark.parametrize(
    "kind", [pytest.param(kind, marks=pytest.mark.needs(kind)) for kind in ("docker", "swarm")]
)
async def test_agent_then_engine(begin, fleet, kind, request, tmp_path, monkeypatch):
    """An agent that is started with the machine waits for an engine that is still starting."""
    engine = request.getfixturevalue(kind)
    socket = engine.socket if kind == "docker" else engine.manager.socket
    late = tmp_path / "docker.sock"
    monkeypatch.setenv("DOCKER_HOST", f"unix://{late}")
    agent = begin(
        "agent", "--state", str(fleet.home), "--agent-listen", f"127.0.0.1:{fleet.agent_port}",
        "--runtime", kind, "--runtime-pull", "never", *FLAGS, "--min", "1", *QUICK, "--", *DEMO,
    )  # fmt: skip
    await agent.says(f"waiting: no Docker engine at unix://{late}")
    os.symlink(socket, late)
    await fleet.until(lambda told: told.ready == 1)
    assert agent.stop() == 0
