"""However `steelyard up` ends, nothing it started is left behind, or it is found again."""

from __future__ import annotations

import asyncio
import signal
import subprocess

import httpx
import psutil
import pytest

from tests.e2e.gateway import QUICK, Gateway, each_runtime


def family(g: Gateway) -> list[psutil.Process]:
    assert g.process is not None
    return [*psutil.Process(g.process.pid).children(recursive=True), *g.workers()]


def gone(processes: list[psutil.Process]) -> bool:
    _, alive = psutil.wait_procs(processes, timeout=10)
    return [p for p in alive if p.status() != psutil.STATUS_ZOMBIE] == []


async def test_ctrl_c_finishes_open_requests_and_leaves_nothing(gateway):
    """A request that is being answered gets its answer; then everything ends."""
    g = gateway("--min", "2", "--max", "2").start()
    await g.ready()
    everything = family(g)
    async with httpx.AsyncClient(timeout=30) as client:
        slow = asyncio.create_task(client.get(f"http://127.0.0.1:{g.port}/sleep?ms=1500"))
        await g.until(lambda told: sum(w.inflight for w in told.workers) == 1)
        g.signal(signal.SIGINT)
        answer = await slow
    assert answer.status_code == 200
    assert await asyncio.to_thread(g.wait) == 0
    assert gone(everything)


async def test_ctrl_c_twice_stops_at_once(gateway):
    """An endless request does not hold it up."""
    g = gateway("--min", "2", "--max", "2").start()
    await g.ready()
    everything = family(g)
    async with httpx.AsyncClient(timeout=60) as client:
        slow = asyncio.create_task(client.get(f"http://127.0.0.1:{g.port}/sleep?ms=25000"))
        await g.until(lambda told: sum(w.inflight for w in told.workers) == 1)
        g.signal(signal.SIGINT)
        while "stopping" not in g.output():
            await asyncio.sleep(0.01)
        assert not slow.done()
        g.signal(signal.SIGINT)
        await asyncio.to_thread(g.wait, 15)  # the request would have taken longer
        results = await asyncio.gather(slow, return_exceptions=True)
    assert isinstance(results[0], httpx.HTTPError)
    assert gone(everything)


@pytest.mark.parametrize("seconds", [0.0, 0.3, 0.6])  # in the pause, importing, starting
async def test_ctrl_c_leaves_nothing_while_the_agent_is_away(gateway, seconds):
    """Its workers outlived the agent, so another one comes to stop them."""
    g = gateway("--min", "2", "--max", "2").start()
    await g.ready()
    everything = family(g)
    g.children("agent")[0].kill()
    while "agent ended" not in g.output():
        await asyncio.sleep(0.01)
    await asyncio.sleep(seconds)
    g.signal(signal.SIGINT)
    assert await asyncio.to_thread(g.wait) == 0
    assert gone(everything)
    assert g.workers() == []


async def test_ctrl_c_leaves_nothing_when_the_agent_is_killed_meanwhile(gateway):
    """An agent that dies while it stops its workers is followed by one that goes on with it."""
    stubborn = ("sh", "-c", "trap '' TERM; exec python3 -m http.server {port}")
    g = gateway("--min", "1", "--max", "1", command=stubborn).start()
    await g.ready()
    g.signal(signal.SIGINT)
    while "stop " not in g.output():
        await asyncio.sleep(0.01)
    g.children("agent")[0].kill()
    assert await asyncio.to_thread(g.wait) == 0
    assert g.workers() == []


async def test_a_reader_of_the_messages_that_goes_away_does_not_end_the_gateway(gateway):
    """As with `steelyard up 2>&1 | head`: what cannot be told is not told."""
    g = gateway("--min", "1", "--max", "1", *QUICK).start(stderr=subprocess.PIPE)
    await g.ready()
    g.process.stderr.close()
    killed = g.children("agent")[0]
    killed.kill()  # something to tell
    await g.until(lambda told: g.children("agent") not in ([], [killed]))
    assert g.stop() == 0
    assert g.workers() == []


@each_runtime
async def test_after_a_killed_parent_the_workers_are_adopted(gateway):
    """Agent and balancers die with it; the next start finds the workers still serving."""
    first = gateway("--min", "2", "--max", "2", *QUICK).start()
    await first.ready()
    pids = first.worker_pids()
    parts = first.children("agent") + first.children("balancer")
    first.signal(signal.SIGKILL)
    first.wait()
    assert gone(parts)
    assert first.worker_pids() == pids

    second = gateway("--min", "2", "--max", "2", *QUICK).start()
    told = await second.ready()
    assert second.worker_pids() == pids
    assert {d.action for d in told.decisions} == {"adopt"}
    assert second.stop() == 0
    assert second.worker_pids() == set()


async def test_after_a_killed_parent_the_workers_are_reaped_if_so_configured(gateway):
    """With `leftovers = reap` nothing is left even before the next start."""
    g = gateway("--min", "2", "--max", "2", "--runtime-leftovers", "reap").start()
    await g.ready()
    workers = g.workers()
    parts = g.children("agent") + g.children("balancer")
    g.signal(signal.SIGKILL)
    g.wait()
    assert gone(parts)
    assert gone(workers)


async def test_leftovers_of_a_killed_agent_are_reaped_on_the_next_start(gateway):
    """Parent and agent killed together leave workers; a start that reaps ends them first."""
    first = gateway("--min", "2", "--max", "2").start()
    await first.ready()
    left = first.workers()
    agent = first.children("agent")[0]
    first.signal(signal.SIGSTOP)  # so that it cannot start another agent
    agent.kill()
    first.signal(signal.SIGKILL)
    first.wait()
    second = gateway("--min", "2", "--max", "2", "--runtime-leftovers", "reap").start()
    await second.ready()
    assert gone(left)
    assert len(second.worker_pids()) == 2
