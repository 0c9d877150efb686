"""A term and its end."""

from __future__ import annotations

import asyncio
import contextlib
import os
import signal
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest

from steelyard.agent import term as term_module
from steelyard.agent.stop import Stop
from steelyard.agent.term import Term, lead
from steelyard.config.settings import Agent, Application, Runtime, Scaling, Settings
from steelyard.config.values import Address
from steelyard.core.record import WorkerRecord
from steelyard.runtime.base import Running
from steelyard.runtime.stub import StubMachine, StubRuntime
from steelyard.sockets import listen
from steelyard.store.memory import MemoryStore
from tests.waiting import until


class Deaf(MemoryStore):
    """A store that takes a cancellation for a timeout of its own."""

    def __init__(self) -> None:
        super().__init__("app")
        self.asked = asyncio.Event()

    async def workers(self) -> list[WorkerRecord]:
        self.asked.set()
        with contextlib.suppress(asyncio.CancelledError):
            await asyncio.Event().wait()
        return []


class Loser:
    """A claimant that loses its lease while the store is being read."""

    holder = "me"

    def __init__(self, store: Deaf) -> None:
        self._store = store

    def leads(self) -> bool:
        return not self._store.asked.is_set()

    async def keep(self) -> str:
        await self._store.asked.wait()
        return "held up"


async def test_a_term_ends_even_if_a_cancellation_is_not_heard(tmp_path):
    """A term ends although a store swallows the first cancellation, so the port becomes free."""
    settings = Settings(
        state=tmp_path,
        application=Application(command=("serve",)),
        runtime=Runtime(kind="stub"),
        agent=Agent(on_stop="leave", lease=1),
    )
    store = Deaf()
    with listen(Address("127.0.0.1", 0), 16, "--agent-listen") as sock:
        term = Term(settings, "token", sock, store, Loser(store))
        await asyncio.wait_for(lead(term, Stop(settings, asked=False)), 60)
    assert store.asked.is_set()


class Lease:
    """A claimant that leads until the test takes the lease from it."""

    holder = "me"

    def __init__(self) -> None:
        self.taken = asyncio.Event()

    def leads(self) -> bool:
        return not self.taken.is_set()

    async def keep(self) -> str:
        await self.taken.wait()
        return "somebody leads"


class World:
    """A machine, a store and a lease, which exist before, during and after a term."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.machine = StubMachine()
        self.store = MemoryStore("app")
        self.lease = Lease()
        self.runtime = StubRuntime(self.machine)

    @asynccontextmanager
    async def term(self, **runtime: str) -> AsyncIterator[asyncio.Task[None]]:
        """Lead two workers with these settings of the runtime, and `on_stop` of the agent."""
        on_stop = runtime.pop("on_stop", "stop")
        settings = Settings(
            state=self.folder,
            application=Application(name="app", command=("serve",)),
            runtime=Runtime(kind="stub", **runtime),
            agent=Agent(on_stop=on_stop),
            scaling=Scaling(min=2, max=2),
        )
        await self.store.claim("me", 3600)
        stop = Stop(settings, asked=False)
        with listen(Address("127.0.0.1", 0), 16, "--agent-listen") as sock:
            term = Term(settings, "token", sock, self.store, self.lease)
            leading = asyncio.create_task(lead(term, stop))
            yield leading
            leading.cancel()
            await asyncio.gather(leading, return_exceptions=True)

    async def two_known(self) -> list[str]:
        """The names of two workers that run and have records; empty before that."""
        names = sorted(self.machine.workers)
        records = sorted(record.name for record in await self.store.workers())
        return names if len(names) == 2 and names == records else []


@pytest.fixture
async def world(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> World:
    made = World(tmp_path)
    monkeypatch.setattr(term_module, "build_runtime", lambda settings: made.runtime)
    return made


async def test_a_stop_ends_the_workers_and_their_records(world: World):
    """A term ends only when its workers have ended and their records are deleted."""
    async with world.term() as leading:
        await until(world.two_known)
        os.kill(os.getpid(), signal.SIGTERM)
        await leading
        assert world.machine.workers == {}
        assert await world.store.workers() == []


async def test_a_stop_that_leaves_the_workers_leaves_their_records(world: World):
    """The workers and records that a stop leaves are those that the next agent adopts."""
    async with world.term(on_stop="leave") as leading:
        names = await until(world.two_known)
        os.kill(os.getpid(), signal.SIGTERM)
        await leading
        assert await world.two_known() == names


async def test_who_has_lost_the_lease_leaves_everything_as_it_is(world: World):
    """An agent that lost the lease stops no worker, even if it is asked to stop as well."""
    async with world.term() as leading:
        names = await until(world.two_known)
        world.lease.taken.set()
        os.kill(os.getpid(), signal.SIGTERM)
        await leading
        assert await world.two_known() == names


class Held(StubRuntime):
    """A runtime whose starts do not end by themselves."""

    def __init__(self, machine: StubMachine) -> None:
        super().__init__(machine)
        self.begun = asyncio.Event()

    async def start(self, name: str) -> Running:
        self.begun.set()
        await asyncio.Event().wait()
        return await super().start(name)


async def test_who_has_lost_the_lease_does_not_wait_for_what_is_under_way(world: World):
    """A slow start does not keep the port from the next agent."""
    world.runtime = held = Held(world.machine)
    async with world.term() as leading:
        await held.begun.wait()
        world.lease.taken.set()
        await leading
        assert world.machine.workers == {}


class Unasked(StubRuntime):
    """A runtime that never answers which workers run."""

    def __init__(self, machine: StubMachine) -> None:
        super().__init__(machine)
        self.asked = asyncio.Event()

    async def running(self) -> list[Running]:
        self.asked.set()
        await asyncio.Event().wait()
        return []


async def test_the_lease_may_be_lost_while_the_workers_are_looked_for(world: World):
    """A term ends with its lease, also while the running workers are being listed."""
    world.runtime = unasked = Unasked(world.machine)
    async with world.term() as leading:
        await unasked.asked.wait()
        world.lease.taken.set()
        await leading


class Broken(StubRuntime):
    """A runtime with a bug."""

    async def running(self) -> list[Running]:
        raise RuntimeError("a bug")


async def test_what_breaks_the_loop_is_raised(world: World):
    """An exception in the loop ends the term and is raised."""
    world.runtime = Broken(world.machine)
    async with world.term() as leading:
        with pytest.raises(ExceptionGroup, match="TaskGroup") as raised:
            await leading
        assert raised.group_contains(RuntimeError, match="a bug")


@pytest.mark.parametrize(("leftovers", "stays"), [("adopt", True), ("reap", False)])
async def test_workers_of_an_earlier_agent(world: World, leftovers: str, stays: bool):
    """Workers of an earlier agent are adopted, or stopped before a new one is started."""
    await world.runtime.start("left")
    async with world.term(leftovers=leftovers):
        names = await until(world.two_known)
        assert ("left" in names) is stays


async def test_a_second_signal_kills(world: World):
    """A second signal does not wait for the grace that the first one gave the workers."""
    graces: list[float] = []

    class Stubborn(StubRuntime):
        async def stop(self, name: str, grace: float) -> None:
            graces.append(grace)
            if grace:
                await asyncio.Event().wait()
            await super().stop(name, grace)

    async def stopping() -> bool:
        return len(graces) == 2

    world.runtime = Stubborn(world.machine)
    async with world.term() as leading:
        await until(world.two_known)
        os.kill(os.getpid(), signal.SIGTERM)
        await until(stopping)
        os.kill(os.getpid(), signal.SIGTERM)

        async def gone() -> bool:
            return not world.machine.workers

        await until(gone)
        assert graces[2:] == [0, 0]
        assert not leading.done() or leading.exception() is None
