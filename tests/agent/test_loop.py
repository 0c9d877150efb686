"""The loop, with a stub runtime."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import pytest

from steelyard.agent import loop
from steelyard.agent.build import build_fleet
from steelyard.agent.loop import Agent
from steelyard.agent.writer import Writer
from steelyard.config.settings import Application, Scaling, Settings
from steelyard.core.commands import Forget
from steelyard.core.events import CloseAsked
from steelyard.runtime.stub import StubRuntime
from steelyard.store.memory import MemoryStore
from tests.waiting import until

SETTINGS = Settings(
    application=Application(name="app", command=("serve",)), scaling=Scaling(min=2, max=2)
)


@asynccontextmanager
async def looping(
    runtime: StubRuntime, store: MemoryStore, *first: CloseAsked
) -> AsyncIterator[Agent]:
    """Run an agent that was told of these events before."""
    agent = Agent(SETTINGS, build_fleet(SETTINGS, None), runtime, Writer(store))
    for event in first:
        agent.tell(event)
    running = asyncio.create_task(agent.run())
    yield agent
    await agent.executor.close()
    running.cancel()
    await asyncio.gather(running, return_exceptions=True)
    await agent.prober.close()


async def test_an_agent_that_is_stopped_while_it_starts_ends_what_it_finds_and_starts_nothing():
    """An agent stopped at its start stops the worker that it finds and starts none."""
    runtime = StubRuntime()
    await runtime.start("left")
    async with looping(runtime, MemoryStore("app"), CloseAsked()) as agent:
        await agent.closed.wait()
        assert await runtime.running() == []
        assert {decision.action for decision in agent.fleet.decisions} == {"adopt", "stop"}


async def test_a_store_that_somebody_wiped_is_filled_again(monkeypatch: pytest.MonkeyPatch):
    """The agent writes all records again with every reconciliation."""
    monkeypatch.setattr(loop, "RECONCILE_EVERY", 0.01)
    store = MemoryStore("app")

    async def full() -> set[str]:
        names = {record.name for record in await store.workers()}
        return names if len(names) == 2 else set()

    async with looping(StubRuntime(), store):
        names = await until(full)
        await store.write([Forget(name) for name in names])
        assert await until(full) == names
