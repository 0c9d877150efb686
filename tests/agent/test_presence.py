"""Whether the runtime can be reached, with a stub that the test makes unreachable."""

from __future__ import annotations

import asyncio

import pytest

from steelyard.agent.build import build_fleet
from steelyard.agent.loop import Agent
from steelyard.agent.presence import Presence
from steelyard.agent.writer import Writer
from steelyard.config.settings import Application, Runtime, Scaling, Settings
from steelyard.core import events as ev
from steelyard.runtime.stub import StubRuntime
from steelyard.store.memory import MemoryStore
from tests.waiting import until

RUNNING = ev.Reconciled(0.0, ())


class Told:
    """A presence, and the events that it reported."""

    def __init__(self) -> None:
        self.events: list[ev.Event] = []
        self.runtime = StubRuntime()
        self.presence = Presence(self.runtime, self.events.append, self._look)

    async def check(self, away: str) -> list[ev.Event]:
        self.runtime.machine.away = away
        self.events.clear()
        await self.presence.check()
        return self.events

    async def _look(self) -> ev.Reconciled:
        await self.runtime.running()
        return RUNNING


async def test_a_loss_and_a_return_are_told():
    """The list of running workers is reported before the return of the runtime."""
    told = Told()
    assert await told.check("") == []
    assert await told.check("no engine") == [ev.RuntimeLost("no engine")]
    assert await told.check("still none") == [ev.RuntimeLost("still none")]
    assert told.presence.away == "still none"
    assert await told.check("") == [RUNNING, ev.RuntimeFound()]
    assert await told.check("") == []


async def test_it_is_asked_again_and_again():
    """The runtime is checked in the background."""
    told = Told()
    watching = asyncio.create_task(told.presence.watch())
    for away in ("no engine", ""):
        told.runtime.machine.away = away

        async def seen(away: str = away) -> bool:
            return told.presence.away == away and bool(told.events)

        await until(seen)
    watching.cancel()
    kinds = [type(event) for event in told.events]
    assert kinds[-2:] == [ev.Reconciled, ev.RuntimeFound]


@pytest.fixture
def agent() -> Agent:
    settings = Settings(
        application=Application(name="app", command=("serve",)),
        scaling=Scaling(min=2, max=2),
        runtime=Runtime(kind="stub", grace=0.5),
    )
    fleet = build_fleet(settings, None)
    return Agent(settings, fleet, StubRuntime(), Writer(MemoryStore("app")))


async def test_a_start_that_the_runtime_misses_is_not_the_applications_fault(agent):
    """The loss is reported before the failed start, so that no back-off delays the next one."""
    agent.runtime.machine.away = "no engine"
    agent.tell(RUNNING)
    await agent.executor.close()
    assert agent.fleet.absence.lasts
    assert agent.fleet.restarts.failures == 0
    assert agent.fleet.roster.by_name == {}
    agent.runtime.machine.away = ""
    await agent.presence.check()
    await agent.executor.close()
    assert len(await agent.runtime.running()) == 2
    await agent.prober.close()


async def test_a_stop_that_the_runtime_misses_is_repeated_when_it_is_back(agent):
    """Without the repeated stop the worker would run on unnoticed."""
    await agent.runtime.start("left")
    agent.tell(ev.CloseAsked())
    agent.reconciled.set()
    agent.runtime.machine.away = "no engine"
    agent.tell(ev.Reconciled(0.0, (ev.Found("left", "127.0.0.1", 1),)))
    await agent.executor.close()
    assert agent.fleet.absence.lasts
    assert not agent.closed.is_set()
    agent.runtime.machine.away = ""
    await agent.presence.check()
    await asyncio.wait_for(agent.closed.wait(), 30)
    assert await agent.runtime.running() == []
    assert agent.fleet.left is None
