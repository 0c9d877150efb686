"""The executor, with workers whose starts and stops take as long as a test wants."""

from __future__ import annotations

import asyncio

import pytest

from steelyard.agent.executor import Executor
from steelyard.core.events import Event, Exited, Started, StartFailed
from steelyard.runtime.base import Running
from steelyard.runtime.stub import StubRuntime


class Slow(StubRuntime):
    """A runtime whose starts and stops end when the test says so."""

    def __init__(self) -> None:
        super().__init__()
        self.begun: asyncio.Queue[str] = asyncio.Queue()
        self.go_on = asyncio.Event()

    async def start(self, name: str) -> Running:
        self.begun.put_nowait(f"start {name}")
        await self.go_on.wait()
        return await super().start(name)

    async def stop(self, name: str, grace: float) -> None:
        self.begun.put_nowait(f"stop {name} within {grace:g} s")
        if grace:  # a kill takes no time
            await self.go_on.wait()
        await super().stop(name, grace)


class Desk:
    """An executor, the events that it reports, and whether its agent may act."""

    def __init__(self, runtime: StubRuntime) -> None:
        self.told: list[Event] = []
        self.leads = True
        self.runtime = runtime
        self.checked = 0  # how often the executor asked whether the runtime is away
        self.executor = Executor(runtime, self.told.append, 5.0, lambda: self.leads, self._check)

    async def _check(self) -> None:
        self.checked += 1

    async def names(self) -> list[str]:
        return [worker.name for worker in await self.runtime.running()]


@pytest.fixture
async def slow() -> Slow:
    return Slow()


async def settled() -> None:
    """Let every task run until it has to wait."""
    for _ in range(10):
        await asyncio.sleep(0)


async def test_a_stop_waits_for_the_start_of_its_worker(slow: Slow):
    """A stop that overtook the start would find nothing to stop, and the worker would run on."""
    desk = Desk(slow)
    desk.executor.start("a")
    desk.executor.stop("a")
    assert await slow.begun.get() == "start a"
    await settled()
    assert slow.begun.empty()
    slow.go_on.set()
    await desk.executor.close()
    assert await desk.names() == []
    assert [type(event) for event in desk.told] == [Started, Exited]


async def test_a_kill_waits_for_the_start_of_its_worker(slow: Slow):
    """A worker that is being started is also killed when the agent must end at once."""
    desk = Desk(slow)
    desk.executor.start("a")
    assert await slow.begun.get() == "start a"
    desk.executor.kill("a")
    await settled()
    assert slow.begun.empty()
    slow.go_on.set()
    await desk.executor.close()
    assert await desk.names() == []


async def test_a_kill_does_not_wait_for_a_stop(slow: Slow):
    """A kill does not wait for the grace that a stop gives the worker."""
    desk = Desk(slow)
    await StubRuntime.start(slow, "a")
    desk.executor.stop("a")
    assert await slow.begun.get() == "stop a within 5 s"
    desk.executor.kill("a")
    assert await slow.begun.get() == "stop a within 0 s"
    await settled()
    assert await desk.names() == []
    slow.go_on.set()
    await desk.executor.close()


async def test_the_end_waits_for_a_stop_that_a_kill_overtook(slow: Slow):
    """Otherwise the stop would go on after the runtime is closed, or vanish in the middle."""
    desk = Desk(slow)
    await StubRuntime.start(slow, "a")
    desk.executor.stop("a")
    assert await slow.begun.get() == "stop a within 5 s"
    desk.executor.kill("a")
    assert await slow.begun.get() == "stop a within 0 s"
    await settled()
    closing = asyncio.create_task(desk.executor.close())
    await settled()
    assert not closing.done()
    slow.go_on.set()
    await closing


async def test_workers_do_not_wait_for_each_other(slow: Slow):
    """Only commands for the same worker have an order."""
    desk = Desk(slow)
    await StubRuntime.start(slow, "b")
    desk.executor.start("a")
    desk.executor.stop("b")
    assert {await slow.begun.get(), await slow.begun.get()} == {"start a", "stop b within 5 s"}
    slow.go_on.set()
    await desk.executor.close()


async def test_nothing_is_started_or_stopped_without_the_lease():
    """An agent without the lease starts and stops no worker, as another agent leads."""
    desk = Desk(StubRuntime())
    await desk.runtime.start("running")
    desk.leads = False
    desk.executor.start("new")
    desk.executor.stop("running")
    await desk.executor.close()
    desk.executor.kill("running")
    await desk.executor.close()
    assert await desk.names() == ["running"]
    assert desk.told == []


async def test_the_lease_is_asked_for_at_the_last_moment(slow: Slow):
    """A stop that waited for a start must not act when the lease was lost meanwhile."""
    desk = Desk(slow)
    desk.executor.start("a")
    desk.executor.stop("a")
    assert await slow.begun.get() == "start a"
    desk.leads = False
    slow.go_on.set()
    await desk.executor.close()
    assert await desk.names() == ["a"]
    assert slow.begun.empty()


async def test_a_start_that_fails_is_told_of():
    """A failed start is reported with the reason that the runtime gave."""
    desk = Desk(StubRuntime())
    desk.runtime.fail_next_start("no such command")
    desk.executor.start("a")
    await desk.executor.close()
    assert desk.told == [StartFailed("a", "no such command")]
    assert await desk.names() == []


async def test_what_is_cancelled_is_left_as_it_is(slow: Slow):
    """A cancelled stop leaves its worker running, as another agent takes care of it."""
    desk = Desk(slow)
    await StubRuntime.start(slow, "a")
    desk.executor.stop("a")
    await slow.begun.get()
    await desk.executor.cancel()
    assert await desk.names() == ["a"]
    assert desk.told == []
