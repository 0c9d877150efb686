"""A running agent, and a hostile WebSocket client that has the token."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import AsyncIterator

import pytest
import websockets

from steelyard.config.settings import Agent as AgentSettings
from steelyard.core import events as ev
from steelyard.core.queue import parse_queue
from steelyard.core.report import parse_report
from steelyard.core.scaling.base import Verdict, View
from tests.agent.conftest import Served
from tests.agent.test_hub import until

TRAFFIC = '{"inflight":1,"requests":1,"failures":0,"bytes":1,"seconds":SECONDS,"histogram":[1HIST]}'
REPORT = '{"balancer":"evil","epoch":"","version":0,"workers":{"WORKER":TRAFFIC}}'


def hostile(worker: str, seconds: str) -> str:
    traffic = TRAFFIC.replace("SECONDS", seconds).replace("HIST", ",0" * 18)
    return REPORT.replace("WORKER", worker).replace("TRAFFIC", traffic)


@pytest.fixture
async def running(served: Served) -> AsyncIterator[asyncio.Task[None]]:
    """The loop of the served agent; it measures twenty times a second."""
    ticking = AgentSettings(tick=0.05)
    served.agent.settings = served.agent.settings.model_copy(update={"agent": ticking})
    task = asyncio.create_task(served.agent.run())
    await served.agent.reconciled.wait()
    yield task
    task.cancel()
    await asyncio.gather(task, return_exceptions=True)


async def ticks(served: Served, running: asyncio.Task[None], many: int) -> None:
    """Wait for so many queues; each tick publishes one."""
    async with served.link("witness") as link:
        for _ in range(many):
            queue = asyncio.create_task(link.recv())
            await asyncio.wait({queue, running}, return_when=asyncio.FIRST_COMPLETED)
            assert not running.done(), "the agent has ended"
            parse_queue(await queue)


@pytest.mark.parametrize("seconds", ["1e308", "NaN", "-1"])
async def test_an_impossible_number_closes_the_link_and_nothing_else(
    served: Served, running: asyncio.Task[None], seconds: str
):
    """A number out of bounds closes the link, and the agent goes on measuring and publishing."""
    first, _ = served.boot()
    async with served.link("evil") as link:
        await link.send(hostile(first, seconds))
        await link.wait_closed()
    assert "malformed report" in link.close_reason
    await ticks(served, running, 3)


@pytest.mark.parametrize("seconds", ["1e15", "5e-324"])
async def test_the_greatest_and_the_least_number_do_no_harm(
    served: Served, running: asyncio.Task[None], seconds: str
):
    """A report with the greatest or least number within the bounds is accepted."""
    first, _ = served.boot()
    async with served.link("evil") as link:
        await link.send(hostile(first, seconds))
        await link.send(hostile("never-was", seconds))
        await ticks(served, running, 3)
        assert served.agent.fleet.links.by_name["evil"].inflight == {}
    assert served.agent.metrics.refused_events == 0


class Broken:
    """A policy with a bug."""

    name = "broken"
    spares_busy = False

    def decide(self, view: View) -> Verdict:
        raise OverflowError(34, "Numerical result out of range")


async def test_an_event_that_raises_is_refused_logged_and_counted(
    served: Served, running: asyncio.Task[None], caplog: pytest.LogCaptureFixture
):
    """The agent goes on after an exception in the fleet, and logs and counts it."""
    first, second = served.boot()
    served.agent.fleet.policy = Broken()
    with caplog.at_level(logging.ERROR, "steelyard.agent.loop"):
        await until(lambda: served.agent.metrics.refused_events >= 2)
    assert not running.done()
    assert "an event of type Tick was refused" in caplog.text
    served.agent.tell(ev.Exited(first, "killed by SIGKILL"))
    assert second in {worker.name for worker in served.agent.fleet.roster.live()}
    async with served.http() as client:
        text = (await client.get("/metrics")).text
    refused = next(line for line in text.splitlines() if line.startswith("steelyard_refused_ev"))
    assert float(refused.split()[1]) >= 2


async def test_commands_given_before_an_event_raised_are_executed(served: Served):
    """Commands from before the exception are executed, as the state of the fleet assumes it."""
    served.boot()
    agent = served.agent

    def broken(ticking: bool) -> None:
        raise OverflowError

    agent.fleet._publish = broken
    agent.tell(ev.LimitsAsked(3, 4))
    assert agent.metrics.refused_events == 1
    newest = agent.fleet.roster.live()[-1].name
    await agent.executor.close()
    assert newest in {worker.name for worker in await agent.runtime.running()}


async def test_a_refused_report_is_not_counted(served: Served):
    """The metrics leave out the traffic of a report that the fleet could not handle."""
    first, _ = served.boot()

    def broken(report: object) -> None:
        raise OverflowError

    served.agent.fleet.links = type("Links", (), {"report": staticmethod(broken)})()
    served.agent.tell(ev.Reported(parse_report(hostile(first, "1"))))
    assert served.agent.metrics.refused_events == 1
    assert first not in served.agent.metrics.workers


@pytest.mark.parametrize("name", ["", "x" * 301, "b%0Aforged"], ids=["empty", "long", "two lines"])
async def test_a_link_under_an_impossible_name_is_refused(served: Served, name: str):
    """A balancer cannot connect with an impossible name, as names are logged and shown."""
    with pytest.raises(websockets.InvalidStatus):
        async with served.link(name):
            pass
    assert served.agent.fleet.links.by_name == {}
