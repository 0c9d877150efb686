"""`steelyard up` is killed: its balancers and agent go on, and the next one takes over."""

from __future__ import annotations

import asyncio
import os
import signal
from collections.abc import Callable

import httpx
import psutil
import pytest

from tests.e2e.gateway import QUICK, Gateway
from tests.e2e.load import Load
from tests.e2e.test_stopping import gone
from tests.folders import below
from tests.ports import free_port
from tests.waiting import until

Make = Callable[..., Gateway]
TWO = ("--min", "2", "--max", "2", *QUICK)


def kill(g: Gateway) -> None:
    """Kill the supervisor, as the kernel does when memory runs out."""
    g.signal(signal.SIGKILL)
    g.wait()


def heir(g: Gateway, make: Make, *flags: str) -> Gateway:
    """The next `steelyard up` with the same addresses."""
    other = make(*flags)
    other.port, other.agent_port = g.port, g.agent_port
    other.log = g.home / "second.log"
    return other


async def says(g: Gateway, text: str) -> None:
    """Wait for a text in the gateway's output."""

    async def said() -> bool:
        assert g.process is not None
        assert g.process.poll() is None, g.output()
        return text in g.output()

    await until(said)


async def left_alone(g: Gateway) -> list[psutil.Process]:
    """Kill the supervisor when it serves; return the processes that go on without it."""
    await g.ready()
    await says(g, "serving app on")
    parts = g.children("agent") + g.children("balancer")
    kill(g)
    return parts


def nothing_is_left(g: Gateway) -> bool:
    return g.workers() == [] and g.orphans() == [] and list(below(g.home, "gateways")) == []


async def test_a_killed_supervisor_costs_no_request_and_the_next_one_takes_over(gateway):
    """Kept and new connections are served on, and the next `up` adopts the workers."""
    g = gateway(*TWO).start()
    await g.ready()
    kept, new = Load(g.port, "/sleep?ms=5"), Load(g.port, "/whoami", keep=False)
    async with kept.running(), new.running():
        await asyncio.gather(kept.more(50), new.more(50))
        parts = g.children("agent") + g.children("balancer")
        kill(g)
        await asyncio.gather(kept.more(200), new.more(200))
        # in a thread, as the clients of this loop go on
        orphans = await asyncio.to_thread(g.orphans)
        assert {one.pid for one in orphans} == {one.pid for one in parts}
        await g.until(lambda told: any("the supervisor is gone" in one for one in told.notes))
        shown = await asyncio.to_thread(g.cli, "status")
        assert "`steelyard up` takes over" in shown.stdout

        pids = await asyncio.to_thread(g.worker_pids)
        second = heir(g, gateway, *TWO).start()
        await says(second, "the old balancers have ended")
        await asyncio.gather(kept.more(200), new.more(200))
        assert gone(parts)
        assert await asyncio.to_thread(second.worker_pids) == pids
        told = await second.until(lambda told: len(told.balancers) == 2)
        assert told.notes == []
        assert {d.action for d in told.decisions} == {"adopt"}
        assert len(second.children("agent") + second.children("balancer")) == 3
    assert (kept.failed, new.failed) == ([], [])
    assert second.stop() == 0
    assert nothing_is_left(second)


async def test_an_agent_without_a_supervisor_replaces_a_worker(gateway):
    """If one of two balancers dies, too, the other has the port; `down` then leaves nothing."""
    g = gateway(*TWO, "--processes", "2").start()
    parts = await left_alone(g)
    before = g.worker_pids()
    victim = min(before)
    os.kill(victim, signal.SIGKILL)
    await g.until(lambda told: told.ready == 2 and len(g.worker_pids() - before) == 1)
    assert victim not in g.worker_pids()
    [balancer, _] = g.orphans("balancer")
    balancer.kill()
    assert gone([balancer])
    load = Load(g.port, "/whoami", keep=False)
    async with load.running():
        await load.more(100)
    assert load.failed == []
    done = await asyncio.to_thread(g.cli, "down")
    assert "the supervisor is gone; stopping its balancers: 1" in done.stderr
    assert done.stderr.endswith("stopped\n")
    assert gone(parts)
    assert nothing_is_left(g)


async def test_down_stops_workers_whose_agent_is_gone_too(gateway):
    """`down` starts another agent, only to stop the workers."""
    g = gateway(*TWO).start()
    await left_alone(g)
    for part in g.orphans():
        part.kill()
        assert gone([part])
    assert len(g.worker_pids()) == 2
    await asyncio.to_thread(g.cli, "down")
    assert nothing_is_left(g)


async def test_down_stops_a_gateway_whose_supervisor_lives(gateway):
    """`down` stops a gateway as Ctrl-C does; if nothing runs, it says so."""
    g = gateway("--min", "1", "--max", "1").start()
    await g.ready()
    done = await asyncio.to_thread(g.cli, "down")
    assert f"process {g.process.pid} serves 127.0.0.1:{g.port}" in done.stderr
    assert g.process.poll() == 0  # `down` has waited for it
    assert nothing_is_left(g)
    done = await asyncio.to_thread(g.cli, "down")
    assert "neither app runs" in done.stderr


async def test_a_second_gateway_is_refused_while_the_first_one_lives(gateway):
    """A second gateway is refused, even on other ports; the first one serves on."""
    g = gateway("--min", "1", "--max", "1").start()
    await g.ready()
    second = gateway("--min", "1", "--max", "1")
    second.log = g.home / "second.log"
    assert await asyncio.to_thread(second.start().wait) == 2
    assert f"already served, by process {g.process.pid}" in second.output()
    assert g.http("/whoami") == 200
    assert g.stop() == 0


async def test_the_next_one_may_serve_elsewhere_and_with_other_processes(gateway):
    """As after a reload, clients of the old address are served to the end, and then refused."""
    g = gateway(*TWO, "--processes", "3").start()
    parts = await left_alone(g)
    load = Load(g.port, "/whoami", keep=False)
    async with load.running():
        second = heir(g, gateway, *TWO, "--processes", "1")
        second.port = free_port()
        second.start()
        await load.more(20)
        await second.until(lambda told: [b.name for b in told.balancers if b.connected] != [])
    assert [one for one in load.failed if "Refused" not in one] == []
    await says(second, "the old balancers have ended")
    assert gone(parts)
    assert second.http("/whoami") == 200
    with pytest.raises(httpx.ConnectError):
        g.http("/whoami")
    assert len(second.children("balancer")) == 1
    assert second.stop() == 0
    assert nothing_is_left(second)


async def test_what_cannot_be_taken_over_serves_on(gateway):
    """If the next agent cannot listen, the old balancers serve on; a third `up` takes over."""
    g = gateway(*TWO).start()
    await left_alone(g)
    balancers, workers = g.orphans("balancer"), g.worker_pids()
    load = Load(g.port, "/whoami", keep=False)
    async with load.running():
        await load.more(20)
        second = heir(g, gateway, *TWO, "--agent-listen", "192.0.2.1:1")
        assert await asyncio.to_thread(second.start().wait) == 1
        await load.more(20)
        assert "balancers and workers go on without a supervisor" in second.output()
        assert g.orphans() == balancers
        third = heir(g, gateway, *TWO).start()
        await says(third, "the old balancers have ended")
        await load.more(20)
    assert load.failed == []
    assert third.worker_pids() == workers
    assert third.stop() == 0
    assert nothing_is_left(third)


@pytest.mark.parametrize("line", ["taking over", "workers ready", "serving app on"])
async def test_ctrl_c_while_it_takes_over_leaves_nothing(gateway, line):
    """Ctrl-C at any point of the take-over ends the old processes and the new ones."""
    g = gateway(*TWO).start()
    parts = await left_alone(g)
    second = heir(g, gateway, *TWO).start()
    await says(second, line)
    assert await asyncio.to_thread(second.stop) == 0
    assert gone(parts)
    assert nothing_is_left(second)


async def test_parts_that_hang_are_replaced(gateway):
    """A hanging agent and a hanging balancer are killed; the workers stay."""
    g = gateway(*TWO, "--processes", "2").start()
    parts = await left_alone(g)
    workers = g.worker_pids()
    g.orphans("agent")[0].suspend()
    g.orphans("balancer")[0].suspend()
    second = heir(g, gateway, *TWO).start()
    await says(second, "the old balancers have ended")
    assert gone(parts)
    assert second.worker_pids() == workers
    assert second.http("/whoami") == 200
    assert second.stop() == 0
    assert nothing_is_left(second)
