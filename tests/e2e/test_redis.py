"""The store in Redis hangs, stops and comes back empty under load; clients notice nothing."""

from __future__ import annotations

import asyncio
import json
import time

import pytest

from tests.e2e.gateway import QUICK
from tests.e2e.load import Load
from tests.redis_server import RedisServer
from tests.waiting import until

pytestmark = [pytest.mark.needs("redis"), pytest.mark.alone]

WORKERS = "steelyard:1:{app}:workers"
AWAY = 10.0  # seconds


def kept(server: RedisServer) -> dict[str, str]:
    """The state of each worker, as the server has it."""
    found = map(json.loads, server.ask("HGETALL", WORKERS).values())
    return {record["name"]: record["state"] for record in found}


@pytest.fixture
def server(tmp_path):
    with RedisServer(tmp_path) as found:
        yield found


async def test_redis_hangs_and_goes_under_load(gateway, server):
    """Redis hangs, stops and comes back empty; no request fails, all records are restored."""
    g = gateway("--store", server.url, "--min", "2", "--max", "4", *QUICK).start()
    before = await g.ready()
    victim = before.workers[0].name
    load = Load(g.port, "/sleep?ms=20", connections=4)
    async with load.running():
        await load.more(50)
        server.freeze()  # the server keeps its connections, and answers nobody
        await asyncio.to_thread(g.client.drain, victim)
        await g.until(lambda told: told.ready == 2 and len(told.workers) == 2 and told.notes != [])
        server.stop()
        back = time.monotonic() + AWAY
        await asyncio.to_thread(g.client.set_limits, 3, 4)
        told = await g.until(lambda told: told.ready == 3)
        assert server.url in told.notes[0]
        await load.more(100)
        await asyncio.sleep(back - time.monotonic())
        server.start()
        told = await g.until(lambda told: told.notes == [])
        await load.more(50)
        names = {worker.name for worker in told.workers}
        await until(lambda: asyncio.to_thread(lambda: kept(server).keys() == names))
    assert load.failed == []
    assert victim not in names
    assert json.loads(server.ask("GET", "steelyard:1:{app}:limits"))["min"] == 3


async def test_redis_is_wiped_and_the_agent_dies(gateway, server):
    """The next agent finds no records, but its workers, and writes their records again."""
    g = gateway("--store", server.url, "--min", "2", "--max", "4", *QUICK).start()
    before = await g.ready()
    names, pids = {worker.name for worker in before.workers}, g.worker_pids()
    [agent] = g.children("agent")
    load = Load(g.port, "/sleep?ms=20", connections=4)
    async with load.running():
        await load.more(50)
        agent.suspend()  # otherwise it would write everything again before it dies
        server.ask("FLUSHALL")
        agent.kill()
        await asyncio.to_thread(agent.wait, 30)
        told = await g.until(lambda told: told.ready == 2)
        await until(lambda: asyncio.to_thread(lambda: kept(server).keys() == names))
        await load.more(50)
    assert load.failed == []
    assert {worker.name for worker in told.workers} == names
    assert {decision.action for decision in told.decisions} == {"adopt"}
    assert g.worker_pids() == pids
