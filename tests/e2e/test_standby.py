"""Two agents, one of which leads: if it dies or hangs, the other leads the same workers."""

from __future__ import annotations

import asyncio
import signal
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from tests.e2e.agents import Agent, view
from tests.e2e.gateway import free_port
from tests.e2e.load import Load
from tests.e2e.test_balancer_alone import (
    processes,  # noqa: F401 - a fixture
    run,
)
from tests.e2e.test_redis import kept
from tests.redis_server import RedisServer
from tests.waiting import until

pytestmark = pytest.mark.alone

Start = Callable[..., Agent]
LIMITS = "steelyard:1:{app}:limits"
LEASE = 4.0  # seconds; a shorter lease would also expire if a process waits long for a core


@pytest.fixture
def start(tmp_path: Path) -> Iterator[Start]:
    """Starts agents in one folder; none of their processes survives the test."""
    made: list[Agent] = []

    def begin(port: int, store: str, lease: float) -> Agent:
        made.append(Agent(tmp_path / "state", port, store, lease))
        return made[-1]

    yield begin
    for one in made:
        one.destroy()
    if made:
        view(tmp_path / "state", made[0]).destroy()


async def so(true: Callable[[], bool]) -> None:
    async def look() -> bool:
        return true()

    await until(look)


@pytest.mark.needs("redis")
async def test_the_leader_is_killed_under_load(start, redis_server, processes, tmp_path):  # noqa: F811
    """The standby takes over the port and the workers; balancers and clients notice nothing."""
    port, home = free_port(), tmp_path / "state"
    first = start(port, redis_server.url, 2.0)
    g = view(home, first)
    processes.append(run(
        "steelyard", "balancer", "--state", home, "--agent", f"127.0.0.1:{port}",
        "--listen", f"127.0.0.1:{g.port}",
    ))  # fmt: skip
    told = await g.ready(2)
    names, pids = {worker.name for worker in told.workers}, g.worker_pids()
    second = start(port, redis_server.url, 2.0)
    await so(second.stands_by)
    load = Load(g.port, "/sleep?ms=20", connections=4)
    async with load.running():
        await load.more(50)
        first.send(signal.SIGKILL)
        await so(lambda: second.terms() == 1)
        told = await g.ready(2)
        await load.more(50)
    assert load.failed == []
    assert {worker.name for worker in told.workers} == names
    assert {decision.action for decision in told.decisions} == {"adopt"}
    assert g.worker_pids() == pids


@pytest.mark.needs("redis")
async def test_the_leader_is_killed_while_it_scales(start, redis_server, processes, tmp_path):  # noqa: F811
    """The standby, on another port, starts exactly the workers that were asked for."""
    home = tmp_path / "state"
    first, second = (start(free_port(), redis_server.url, LEASE) for _ in range(2))
    await so(lambda: first.terms() + second.terms() == 1)
    leader, standby = (first, second) if first.terms() else (second, first)
    g = view(home, leader)
    processes.append(run(
        "steelyard", "balancer", "--state", home, "--listen", f"127.0.0.1:{g.port}",
        "--agent", f"127.0.0.1:{first.port}", "--agent", f"127.0.0.1:{second.port}",
    ))  # fmt: skip
    before = await g.ready(2)
    load = Load(g.port, "/sleep?ms=20", connections=4)
    async with load.running():
        await load.more(50)
        await asyncio.to_thread(g.client.set_limits, 3, 3)
        await so(lambda: bool(redis_server.ask("EXISTS", LIMITS)))
        leader.send(signal.SIGKILL)
        g, most = view(home, standby), 0
        told = None
        while told is None or told.ready < 3:
            told, most = await g.try_status(), max(most, len(g.worker_pids()))
            await asyncio.sleep(0.05)
        await g.ready(3)
        await load.more(50)
    assert load.failed == []
    assert {worker.name for worker in before.workers} < {worker.name for worker in told.workers}
    assert (most, len(g.worker_pids())) == (3, 3)


async def test_a_leader_that_hangs_finds_itself_replaced(start, tmp_path):
    """The old leader touches nothing and stands by; when the new one stops, it leads again."""
    store, home = f"sqlite:{tmp_path / 'store'}", tmp_path / "state"
    first = start(free_port(), store, LEASE)
    told = await view(home, first).until(lambda told: told.ready == 2)
    names, pids = {worker.name for worker in told.workers}, view(home, first).worker_pids()
    second = start(free_port(), store, LEASE)
    await so(second.stands_by)
    first.send(signal.SIGSTOP)
    await view(home, second).until(lambda told: told.ready == 2)
    first.send(signal.SIGCONT)
    await so(lambda: "no longer leads" in first.said())
    await so(lambda: first.stands_by() and first.process.poll() is None)
    assert view(home, second).worker_pids() == pids
    second.send(signal.SIGTERM)
    assert second.process.wait() == 0
    told = await view(home, first).until(lambda told: told.ready == 2)
    assert {worker.name for worker in told.workers} == names
    assert view(home, first).worker_pids() == pids
    assert (first.terms(), second.terms()) == (2, 1)


@pytest.mark.needs("redis")
async def test_redis_is_away_for_longer_than_the_lease(start, tmp_path):
    """The leader steps down, its workers go on, and it leads again when Redis is back, empty."""
    with RedisServer(tmp_path) as server:
        only = start(free_port(), server.url, LEASE)
        g = view(tmp_path / "state", only)
        told = await g.until(lambda told: told.ready == 2)
        names, pids = {worker.name for worker in told.workers}, g.worker_pids()
        server.stop()
        await so(lambda: "no longer leads" in only.said())
        server.start()
        await so(lambda: only.terms() == 2)
        told = await g.until(lambda told: told.ready == 2)
        assert {worker.name for worker in told.workers} == names
        assert {decision.action for decision in told.decisions} == {"adopt"}
        assert g.worker_pids() == pids
        await so(lambda: kept(server).keys() == names)
