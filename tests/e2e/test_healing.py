"""Parts are killed under load; clients do not notice, and the parts come back."""

from __future__ import annotations

import asyncio
import os
import random
import signal
import sqlite3
import subprocess
import sys
from contextlib import closing

import pytest

from steelyard.core.record import record_key
from tests.e2e.gateway import QUICK, Gateway, each_runtime, free_port
from tests.e2e.load import Load
from tests.waiting import until

pytestmark = pytest.mark.alone


async def test_an_agent_comes_back_while_its_store_is_down(gateway):
    """An agent without its store finds its workers, and says that the store is missing."""
    g = gateway("--min", "1", "--max", "1", *QUICK).start()
    await g.ready()
    pids = g.worker_pids()
    for path in g.home.glob("*/store.sqlite*"):
        path.unlink()
        path.mkdir()  # root can write to any file, but nobody can write to a folder
    killed = g.children("agent")[0]
    killed.kill()
    await asyncio.to_thread(killed.wait, 10)
    told = await g.until(lambda told: told.ready == 1 and bool(told.notes))
    assert "store" in told.notes[0]
    assert g.worker_pids() == pids


async def test_balancers_of_a_second_gateway_are_told_apart(gateway):
    """Each balancer reports its own exchanges to the agent, under a name of its own."""
    g = gateway("--min", "1", "--max", "1", *QUICK).start()
    await g.ready()
    words = [
        sys.executable, "-m", "steelyard", "balancer", "--state", str(g.home),
        "--agent", f"127.0.0.1:{g.agent_port}", "--listen", f"127.0.0.1:{free_port()}",
    ]  # fmt: skip
    second = await asyncio.create_subprocess_exec(*words, stderr=subprocess.DEVNULL)
    told = await g.until(lambda told: len(told.balancers) == 4)
    second.terminate()
    await second.wait()
    assert all(balancer.connected for balancer in told.balancers)


@each_runtime
async def test_a_killed_worker_is_replaced_and_no_idempotent_request_fails(gateway):
    """Requests at a worker that dies by `kill -9` are tried again elsewhere."""
    g = gateway("--min", "3", "--max", "3", *QUICK).start()
    await g.ready()
    load = Load(g.port, "/sleep?ms=30", connections=8)
    async with load.running():
        await load.more(50)
        victim = sorted(g.worker_pids())[0]
        os.kill(victim, signal.SIGKILL)
        await g.until(lambda told: any(d.action == "replace" for d in told.decisions))
        told = await g.ready(3)
        await load.more(100)
    assert load.failed == []
    assert victim not in g.worker_pids()
    replaced = [d.reason for d in told.decisions if d.action == "replace"]
    assert len(replaced) == 1
    assert "SIGKILL" in replaced[0]


@each_runtime
async def test_a_killed_agent_comes_back_to_the_same_workers(gateway):
    """No request fails meanwhile; no worker is lost, doubled or restarted."""
    g = gateway("--min", "3", "--max", "4", *QUICK).start()
    await g.ready()
    before = g.worker_pids()
    load = Load(g.port, "/sleep?ms=20", connections=4)
    async with load.running():
        await load.more(50)
        g.children("agent")[0].kill()
        await load.more(100)
        told = await g.until(
            lambda told: told.ready == 3 and {d.action for d in told.decisions} == {"adopt"}
        )
        await load.more(100)
    assert load.failed == []
    assert g.worker_pids() == before
    assert len(told.workers) == 3


@each_runtime
async def test_what_changed_while_no_agent_looked_is_put_right(gateway):
    """Records without workers are deleted, workers without records stay, lost ones are replaced."""
    first = gateway("--min", "3", "--max", "3", *QUICK).start()
    before = await first.ready()
    pids = first.worker_pids()
    first.signal(signal.SIGSTOP)  # so that it cannot start another agent
    first.children("agent")[0].kill()
    first.signal(signal.SIGKILL)
    first.wait()
    victim = min(pids)
    os.kill(victim, signal.SIGKILL)
    with closing(store(first)) as db, db:
        db.execute("DELETE FROM workers WHERE sequence > 0")
        key = record_key("app", "never")
        db.execute("UPDATE workers SET name = 'never', key = ?", (key,))
    second = gateway("--min", "3", "--max", "3", *QUICK).start()
    told = await second.ready()
    assert second.worker_pids() > pids - {victim}
    assert len(second.worker_pids()) == 3
    names = {worker.name for worker in told.workers}
    assert len(names & {worker.name for worker in before.workers}) == 2
    assert sorted(d.action for d in told.decisions) == ["adopt", "adopt", "start"]
    await until(lambda: asyncio.to_thread(lambda: recorded(second) == names))


def store(g: Gateway) -> sqlite3.Connection:
    [path] = g.home.glob("*/store.sqlite")
    return sqlite3.connect(path, timeout=30)


def recorded(g: Gateway) -> set[str]:
    """The names of the workers in the store."""
    with closing(store(g)) as db:
        return {name for (name,) in db.execute("SELECT name FROM workers")}


async def test_a_killed_balancer_costs_at_most_the_requests_it_held(gateway):
    """If one of two balancers is killed, the other serves on, and a new one replaces it."""
    g = gateway("--min", "2", "--max", "2", "--processes", "2").start()
    await g.ready()
    load = Load(g.port, "/sleep?ms=20", connections=16)
    async with load.running():
        await load.more(100)
        first, second = g.children("balancer")
        first.kill()
        await load.more(300)
        await g.until(lambda told: len([b for b in told.balancers if b.connected]) == 2)
    assert len(load.errors) <= load.connections
    assert set(load.statuses) == {200}
    assert first.pid not in {child.pid for child in g.children("balancer")}
    assert second.pid in {child.pid for child in g.children("balancer")}


async def test_a_hung_worker_leaves_the_ring_and_is_replaced(gateway):
    """A suspended worker accepts connections, but never answers; its health check fails."""
    g = gateway(
        "--min", "2", "--max", "2", *QUICK, "--health-path", "/health",
        "--probe-timeout", "0.5", "--probe-hung", "3", "--gateway-answer-timeout", "30",
    ).start()  # fmt: skip
    told = await g.ready()
    before = g.worker_pids()
    victim = sorted(before)[0]
    os.kill(victim, signal.SIGSTOP)
    await g.until(lambda told: told.ready == 1)
    load = Load(g.port, "/whoami", connections=2)
    async with load.running():
        await load.more(100)
        await g.until(lambda told: told.ready == 2 and len(told.workers) == 2)
    assert load.failed == []
    assert victim not in g.worker_pids()
    assert len(told.workers) == 2


async def test_an_agent_killed_at_any_point_leaks_and_doubles_nothing(gateway):
    """The agent is killed at random times while it boots, starts, scales and drains."""
    g = gateway("--min", "2", "--max", "5", *QUICK).start()
    await g.ready()
    rng = random.Random(20261115)
    load = Load(g.port, "/sleep?ms=20", connections=4)
    async with load.running():
        for _ in range(5):
            await g.until(lambda told: told.queue_version >= 0)
            low = rng.randint(1, 3)
            await asyncio.to_thread(g.client.set_limits, low, low + rng.randint(0, 2))
            # the random moment is the point of this test
            await asyncio.sleep(rng.uniform(0.0, 0.8))
            for agent in g.children("agent"):
                agent.kill()
        told = await g.until(
            lambda told: told.ready == told.target == len(told.workers), timeout=120
        )
        await load.more(50)
    assert load.failed == []
    assert len(g.worker_pids()) == len(told.workers)
