"""The loop, with a stub runtime."""

from __future__ import annotations

import asyncio

from steelyard.agent.build import build_fleet
from steelyard.agent.loop import Agent
from steelyard.agent.writer import Writer
from steelyard.config.settings import Application, Scaling, Settings
from steelyard.core.events import CloseAsked
from steelyard.runtime.stub import StubRuntime
from steelyard.store.memory import MemoryStore


async def test_an_agent_that_is_stopped_while_it_starts_ends_what_it_finds_and_starts_nothing():
    """One worker of an earlier agent runs; two are wanted."""
    settings = Settings(
        application=Application(name="app", command=("serve",)), scaling=Scaling(min=2, max=2)
    )
    runtime = StubRuntime()
    await runtime.start("left")
    agent = Agent(settings, build_fleet(settings, None), runtime, Writer(MemoryStore("app")))
    agent.tell(CloseAsked())
    running = asyncio.create_task(agent.run())
    await asyncio.wait_for(agent.closed.wait(), 10)
    assert await runtime.running() == []
    assert {decision.action for decision in agent.fleet.decisions} == {"adopt", "stop"}
    await agent.executor.close()
    running.cancel()
    await asyncio.gather(running, return_exceptions=True)
    await agent.prober.close()
