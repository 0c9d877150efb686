"""The engine goes away under load: workers serve on, and the fleet is complete when it is back.

Times of recovery are printed, and not asserted: `pytest -s` shows them.
"""

from __future__ import annotations

import asyncio
import sys
import time
from collections.abc import Iterator

import pytest

from steelyard.core.status import FleetStatus
from tests.conftest import started
from tests.docker.engine import LIVE, PLAIN, Engine, private_engine
from tests.e2e.containers import DockerGateway, SwarmGateway
from tests.e2e.gateway import QUICK
from tests.e2e.load import Load

pytestmark = pytest.mark.needs("docker")
HUNG = 2.0  # seconds; the engine is away for longer than that
GRACE = 2.0
FLAGS = (*QUICK, "--probe-hung", str(HUNG), "--runtime-grace", str(GRACE))
THREE = ("--min", "3", "--max", "3", *FLAGS)


@pytest.fixture
def engine(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> Iterator[Engine]:
    """An engine of the test's own, which may be left dead."""
    with started(lambda: private_engine(request.param)) as engine:
        monkeypatch.setenv("DOCKER_HOST", engine.url)
        with engine.network.entered():
            yield engine


@pytest.fixture
def g(engine: Engine, tmp_path) -> Iterator[DockerGateway]:
    made = DockerGateway(engine, tmp_path / "state", *THREE)
    yield made
    made.halt()


def note(measured: str, what: str) -> None:
    sys.stdout.write(f"\n{what}: {measured}\n")


def names(told: FleetStatus) -> set[str]:
    return {worker.name for worker in told.workers}


def actions(told: FleetStatus) -> list[str]:
    return [decision.action for decision in told.decisions]


async def away(g: DockerGateway | SwarmGateway, seconds: float = 0.0) -> FleetStatus:
    return await g.until(lambda told: told.away_seconds > seconds)


async def whole(g: DockerGateway | SwarmGateway, what: str) -> FleetStatus:
    """Wait for all workers after the engine answers; print how long that took."""
    back = time.monotonic()
    told = await g.until(lambda told: not told.away and told.ready == 3 == len(told.workers))
    booting = min(worker.age for worker in told.workers)
    took = time.monotonic() - back
    note(f"whole {took:.2f} s after the engine answers, {booting:.2f} s after the last start", what)
    return told


@pytest.mark.parametrize("engine", [LIVE], indirect=True, ids=["live-restore"])
async def test_workers_serve_on_while_their_engine_is_away(engine, g):
    """No request fails, no worker is replaced, and status and decisions are true."""
    before = await g.start().ready()
    load = Load(g.port, "/sleep?ms=20", connections=4)
    async with load.running():
        await load.more(50)
        engine.kill()
        told = await away(g, 2 * HUNG)
        assert told.ready == 3
        assert "no worker is started, stopped or judged" in g.cli("status").stdout
        await load.more(50)
        engine.start()
        told = await whole(g, "live-restore")
        await load.more(50)
    assert load.failed == []
    assert names(told) == names(before)
    assert actions(told) == [*["start"] * 3, "hold", "resume"]
    assert told.losses == 1


@pytest.mark.parametrize(
    "engine", [(*PLAIN, "--live-restore")], indirect=True, ids=["live-restore, proxied"]
)
async def test_ports_that_go_with_the_engine_are_no_reason_to_replace_a_worker(engine, g):
    """No worker answers while the engine's proxies are dead; then the same workers do again."""
    before = await g.start().ready()
    engine.kill()
    told = await g.until(lambda told: told.away_seconds > 2 * HUNG and told.ready == 0)
    assert names(told) == names(before)
    engine.start()
    told = await whole(g, "live-restore, proxied")
    load = Load(g.port, "/sleep?ms=20", connections=4)
    async with load.running():
        await load.more(50)
    assert load.failed == []
    assert names(told) == names(before)
    assert actions(told) == [*["start"] * 3, "hold", "resume"]


@pytest.mark.parametrize(
    "gateway", ["docker", pytest.param("swarm", marks=pytest.mark.needs("swarm"))], indirect=True
)
async def test_workers_that_went_with_their_engine_are_replaced_at_once(gateway):
    """A returning engine without live-restore ends its workers; no start counts as failed."""
    # A swarm takes a while to know which of its tasks have ended, so the limit for hung workers is
    # high.
    g = gateway(*THREE, "--probe-hung", "60").start()
    engine = g.engine if isinstance(g, DockerGateway) else g.swarm.manager
    before = await g.ready()
    load = Load(g.port, "/sleep?ms=20", connections=4)
    async with load.running():
        await load.more(50)
        engine.kill()
        told = await away(g, 2 * HUNG)
        assert names(told) == names(before)
        engine.start()
        await g.until(lambda told: not names(told) & names(before))
        told = await whole(g, "without live-restore")
    after = Load(g.port, "/sleep?ms=20", connections=4)
    async with after.running():
        await after.more(50)
    assert after.failed == []
    assert actions(told) == [*["start"] * 3, "hold", "resume", *["replace"] * 3]
    assert (told.failures, told.trouble) == (0, "")


@pytest.mark.parametrize("engine", [LIVE], indirect=True, ids=["live-restore"])
@pytest.mark.parametrize("harm", ["kill", "freeze"])
async def test_a_stop_while_the_engine_is_away_ends_and_says_what_is_left(engine, g, harm):
    """The next start finds the workers that could not be stopped, and replaces them."""
    before = await g.start().ready()
    getattr(engine, harm)()
    try:
        await away(g)
        began = time.monotonic()
        assert await asyncio.to_thread(g.stop) == 1
        note(f"stopped in {time.monotonic() - began:.2f} s, with a grace of {GRACE:g} s", harm)
    finally:
        engine.start() if harm == "kill" else engine.thaw()
    [line] = [line for line in g.output().splitlines() if "may run on" in line]
    assert all(name in line for name in names(before))
    running = {one["Names"][0][1:] for one in engine.ask("GET", "/containers/json")}
    assert running == names(before)
    g.start()
    await g.until(lambda told: told.ready == 3 and not names(told) & names(before))
    assert await asyncio.to_thread(g.stop) == 0
    assert engine.things()["containers"] == []


@pytest.mark.parametrize("engine", [LIVE], indirect=True, ids=["live-restore"])
async def test_a_stop_goes_on_when_the_engine_comes_back_in_time(engine, tmp_path):
    """Nothing is left of a gateway that was told to stop while its engine was restarted."""
    g = DockerGateway(engine, tmp_path / "state", *QUICK, "--runtime-grace", "60")
    await g.start().ready()
    engine.kill()
    await away(g)
    stopping = asyncio.create_task(asyncio.to_thread(g.stop))
    await g.until(lambda told: told.closing)
    engine.start()
    assert await stopping == 0
    assert engine.things()["containers"] == []
