"""However `steelyard up` ends, nothing that it started is left, or the next start finds it."""

from __future__ import annotations

import asyncio
import signal
import subprocess
from collections.abc import AsyncIterator

import httpx
import psutil
import pytest

from tests.balancer.stage import PATIENCE
from tests.e2e.follower import SPEAKER, Follower
from tests.e2e.gateway import QUICK, Gateway, each_runtime
from tests.waiting import until


def family(g: Gateway) -> list[psutil.Process]:
    assert g.process is not None
    return [*psutil.Process(g.process.pid).children(recursive=True), *g.workers()]


def gone(processes: list[psutil.Process]) -> bool:
    _, alive = psutil.wait_procs(processes, timeout=PATIENCE)
    return [p for p in alive if p.status() != psutil.STATUS_ZOMBIE] == []


async def test_ctrl_c_finishes_open_requests_and_leaves_nothing(gateway):
    """A request that is being answered gets its answer; then everything ends."""
    g = gateway("--min", "2", "--max", "2").start()
    await g.ready()
    everything = family(g)
    go_on = asyncio.Event()

    async def body() -> AsyncIterator[bytes]:
        yield b"before, "
        await go_on.wait()
        yield b"after"

    async with httpx.AsyncClient(timeout=None) as client:
        url = f"http://127.0.0.1:{g.port}/echo?body=1"
        slow = asyncio.create_task(client.post(url, content=body()))
        await g.until(lambda told: sum(w.inflight for w in told.workers) == 1)
        g.signal(signal.SIGINT)
        await until_told(g, "stopping")
        go_on.set()
        answer = await slow
    assert (answer.status_code, answer.text) == (200, "before, after")
    assert await asyncio.to_thread(g.wait) == 0
    assert gone(everything)


async def test_ctrl_c_twice_stops_at_once(gateway):
    """An endless request does not hold up the end."""
    g = gateway("--min", "2", "--max", "2", "--gateway-drain", "3600").start()
    await g.ready()
    everything = family(g)
    async with httpx.AsyncClient(timeout=None) as client:
        slow = asyncio.create_task(client.get(f"http://127.0.0.1:{g.port}/sleep?ms=60000"))
        await g.until(lambda told: sum(w.inflight for w in told.workers) == 1)
        g.signal(signal.SIGINT)
        await until_told(g, "stopping")
        assert not slow.done()
        g.signal(signal.SIGINT)
        await asyncio.to_thread(g.wait)
        results = await asyncio.gather(slow, return_exceptions=True)
    assert isinstance(results[0], httpx.HTTPError)
    assert gone(everything)


async def test_ctrl_c_twice_ends_an_agent_that_hangs(gateway):
    """An agent stopped by SIGSTOP acts on no signal: it is killed, and its workers with it."""
    g = gateway("--min", "2", "--max", "2").start()
    await g.ready()
    everything = family(g)
    g.children("agent")[0].suspend()
    g.signal(signal.SIGINT)
    await until_told(g, "stopping")
    g.signal(signal.SIGINT)
    await asyncio.to_thread(g.wait)
    assert gone(everything)
    assert g.workers() == []


async def test_ctrl_c_twice_ends_a_balancer_that_hangs(gateway):
    """A balancer stopped by SIGSTOP acts on no signal but SIGKILL, which it gets."""
    g = gateway("--min", "1", "--max", "1").start()
    await g.ready()
    everything = family(g)
    g.children("balancer")[0].suspend()
    await stop_twice(g)
    assert gone(everything)


async def test_ctrl_c_twice_ends_a_worker_that_ignores_it(gateway):
    """A worker that ignores SIGTERM is killed before its grace of a day has passed."""
    stubborn = ("sh", "-c", "trap '' TERM; exec python3 -m http.server {port}")
    flags = ("--min", "1", "--max", "1", "--runtime-grace", "86400")
    g = gateway(*flags, command=stubborn).start()
    await g.ready()
    everything = family(g)
    g.signal(signal.SIGINT)
    await until_told(g, "stop ")
    g.signal(signal.SIGINT)
    await asyncio.to_thread(g.wait)
    assert gone(everything)


async def test_ctrl_c_twice_ends_everything_that_hangs_while_logs_are_followed(gateway):
    """Agent, balancers and workers hang, and so does the client that follows the logs."""
    g = gateway("--min", "1", "--max", "1", command=SPEAKER).start()
    await g.ready()
    everything = family(g)
    async with Follower(g) as follower:
        await until(lambda: asyncio.sleep(0.01, follower.lines))
        follower.process.send_signal(signal.SIGSTOP)
        for process in (*g.workers(), *g.children("balancer"), *g.children("agent")):
            process.suspend()
        await stop_twice(g)
        assert gone(everything)
    assert g.workers() == []


async def test_ctrl_c_ends_in_order_while_logs_are_followed(gateway):
    """A client that follows the logs without reading does not delay the end."""
    g = gateway("--min", "1", "--max", "1", command=SPEAKER).start()
    await g.ready()
    async with Follower(g) as follower:
        await until(lambda: asyncio.sleep(0.01, follower.lines))
        follower.process.send_signal(signal.SIGSTOP)
        assert await asyncio.to_thread(g.stop) == 0
    assert g.workers() == []


async def stop_twice(g: Gateway) -> None:
    """Send Ctrl-C, and another one when the first has been noticed."""
    g.signal(signal.SIGINT)
    await until_told(g, "stopping")
    g.signal(signal.SIGINT)
    await asyncio.to_thread(g.wait)


async def until_told(g: Gateway, word: str) -> None:
    async def look() -> bool:
        return word in g.output()

    await until(look)


@pytest.mark.parametrize("seconds", [0.0, 0.3, 0.6])  # during the pause, the imports and the start
async def test_ctrl_c_leaves_nothing_while_the_agent_is_away(gateway, seconds):
    """The workers outlived their agent, so another agent is started to stop them."""
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
    """An agent that dies while it stops its workers is replaced by one that goes on with that."""
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
    """As with `steelyard up 2>&1 | head`: messages that cannot be written are dropped."""
    g = gateway("--min", "1", "--max", "1", *QUICK).start(stderr=subprocess.PIPE)
    await g.ready()
    g.process.stderr.close()
    killed = g.children("agent")[0]
    killed.kill()  # this makes the gateway print a message
    await g.until(lambda told: g.children("agent") not in ([], [killed]))
    assert g.stop() == 0
    assert g.workers() == []


@each_runtime
async def test_after_everything_was_killed_the_workers_are_adopted(gateway):
    """Supervisor, agent and balancers are gone; the next start finds the workers still serving."""
    first = gateway("--min", "2", "--max", "2", *QUICK).start()
    await first.ready()
    pids = first.worker_pids()
    parts = first.children("agent") + first.children("balancer")
    first.signal(signal.SIGKILL)
    first.wait()
    for part in parts:
        part.kill()
    assert gone(parts)
    assert first.worker_pids() == pids

    second = gateway("--min", "2", "--max", "2", *QUICK).start()
    told = await second.ready()
    assert second.worker_pids() == pids
    assert {d.action for d in told.decisions} == {"adopt"}
    assert second.stop() == 0
    assert second.worker_pids() == set()


async def test_leftovers_of_a_killed_agent_are_reaped_on_the_next_start(gateway):
    """Workers whose supervisor and agent were killed end with `--runtime-leftovers reap`."""
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
