"""A term and its end."""

from __future__ import annotations

import asyncio
import contextlib
import os
import signal
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import httpx
import pytest

from steelyard.agent import term as term_module
from steelyard.agent.stop import Stop
from steelyard.agent.term import LeftError, Term, lead
from steelyard.config.settings import Agent, Application, Runtime, Scaling, Settings
from steelyard.config.values import Address
from steelyard.core.commands import Change, SaveLimits
from steelyard.core.record import LimitsRecord, WorkerRecord
from steelyard.errors import StoreError
from steelyard.runtime.base import Exit, Running
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
        self.lapsed = False  # the lease has run out, and nobody has told yet who has it now

    def leads(self) -> bool:
        return not self.lapsed and not self.taken.is_set()

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
        self.stop: Stop | None = None
        self.port = 0

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
        self.stop = stop = Stop(settings, asked=False)
        with listen(Address("127.0.0.1", 0), 16, "--agent-listen") as sock:
            self.port = sock.getsockname()[1]
            notes = lambda: ["a note of the process"]  # noqa: E731
            term = Term(settings, "token", sock, self.store, self.lease, notes)
            leading = asyncio.create_task(lead(term, stop))
            yield leading
            leading.cancel()
            await asyncio.gather(leading, return_exceptions=True)

    async def records(self) -> list[str]:
        """The workers of which the store knows."""
        return sorted(record.name for record in await self.store.workers())

    async def two_known(self) -> list[str]:
        """The names of two workers that run and have records; empty before that."""
        names = sorted(self.machine.workers)
        return names if len(names) == 2 and names == await self.records() else []


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


async def ask(world: World) -> dict[str, Any]:
    """What the agent tells people."""
    async with httpx.AsyncClient(headers={"Authorization": "Bearer token"}) as client:
        answer = await client.get(f"http://127.0.0.1:{world.port}/v1/status")
    return dict(answer.json())


@pytest.mark.parametrize("end", ["stop", "lose"])
async def test_a_term_that_is_over_leaves_nothing_behind(world: World, end: str):
    """Neither a task, such as a probe that would go on, nor an ear at the machine."""
    before = asyncio.all_tasks()
    async with world.term(on_stop="leave") as leading:
        await until(world.two_known)
        if end == "lose":
            world.lease.taken.set()
        else:
            os.kill(os.getpid(), signal.SIGTERM)
        await leading
        assert asyncio.all_tasks() - before - {leading} == set()
        assert world.machine.watchers == []


class Heard(StubRuntime):
    """A runtime that knows when the agent has taken in the end of a worker."""

    def __init__(self, machine: StubMachine) -> None:
        super().__init__(machine)
        self.heard = asyncio.Event()

    async def exits(self) -> AsyncIterator[Exit]:
        async for one in super().exits():
            yield one
            self.heard.set()


async def test_who_has_no_lease_any_more_learns_and_does_nothing(world: World):
    """The lease has run out before anybody said so: a dead worker is another agent's to replace."""
    world.runtime = runtime = Heard(world.machine)
    async with world.term(on_stop="leave") as leading:
        names = await until(world.two_known)
        world.lease.lapsed = True
        runtime.die(names[0])
        await runtime.heard.wait()
        os.kill(os.getpid(), signal.SIGTERM)  # what is under way is waited for
        await leading
        assert list(world.machine.workers) == names[1:]
        assert await world.records() == names


async def test_a_record_is_written_under_the_lease(world: World, caplog: pytest.LogCaptureFixture):
    """A store that gave the lease to another agent takes no record from this one."""
    async with world.term(on_stop="leave"):
        names = await until(world.two_known)
        await world.store.release("me")
        await world.store.claim("other", 3600)
        world.runtime.die(names[0])

        async def answered() -> bool:
            return "going on from memory" in caplog.text or await world.records() != names

        await until(answered)
        assert await world.records() == names


class Late(MemoryStore):
    """A store that is away when the limits are asked for the first time."""

    def __init__(self) -> None:
        super().__init__("app")
        self.asked = 0

    async def limits(self) -> LimitsRecord | None:
        self.asked += 1
        if self.asked == 1:
            raise StoreError("away")
        return await super().limits()


@pytest.mark.parametrize("store", [MemoryStore("app"), Late()], ids=["there", "late"])
async def test_limits_that_an_operator_set_outlive_the_term(world: World, store: MemoryStore):
    """They are read at the start, or as soon as the store can be read."""
    limits = LimitsRecord(min=3, max=3, configured_min=2, configured_max=2)
    await store.write([SaveLimits(limits)])
    world.store = store

    async def three() -> bool:
        return len(world.machine.workers) == 3

    async with world.term():
        await until(three)
        told = await ask(world)
    actions = [decision["action"] for decision in told["decisions"]]
    assert ("limits" in actions) is isinstance(store, Late)


async def test_people_are_told_what_the_process_and_the_runtime_note(
    world: World, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
):
    """In the status, and in the log what the machine cannot do."""
    monkeypatch.setattr(StubRuntime, "notes", ["a note of the runtime"])
    async with world.term():
        await until(world.two_known)
        told = await ask(world)
        assert told["notes"] == ["a note of the process", "a note of the runtime"]
    assert "a note of the runtime" in caplog.messages


class Slow(StubRuntime):
    """A runtime whose starts end a second after a stop is asked for, or when it is closed."""

    def __init__(self, world: World) -> None:
        super().__init__(world.machine)
        self._world = world
        self.begun, self.closed = asyncio.Event(), asyncio.Event()
        self.overtaken = False

    async def start(self, name: str) -> Running:
        self.begun.set()
        assert self._world.stop is not None
        await self._world.stop.asked.wait()
        with contextlib.suppress(TimeoutError):
            await asyncio.wait_for(self.closed.wait(), 1)
            self.overtaken = True
        return await super().start(name)

    async def close(self) -> None:
        self.closed.set()
        await super().close()


async def test_a_stop_that_leaves_the_workers_waits_for_those_that_start(world: World):
    """They are there and known when the term is over, so the next agent finds them."""
    world.runtime = slow = Slow(world)
    async with world.term(on_stop="leave") as leading:
        await slow.begun.wait()
        os.kill(os.getpid(), signal.SIGTERM)
        await leading
        assert not slow.overtaken
        assert len(await world.two_known()) == 2


class Busy(MemoryStore):
    """A store whose first write ends some turns of the event loop after a stop was asked for."""

    def __init__(self, world: World) -> None:
        super().__init__("app")
        self._world = world

    async def write(self, changes: Sequence[Change], holder: str = "") -> None:
        assert self._world.stop is not None
        await self._world.stop.asked.wait()
        for _ in range(100):
            await asyncio.sleep(0)
        await super().write(changes, holder)


async def test_a_stop_waits_for_the_store(world: World):
    """A record that was not written when the stop was asked for is written before the end."""
    world.store = Busy(world)

    async def two() -> bool:
        return len(world.machine.workers) == 2

    async with world.term(on_stop="leave") as leading:
        await until(two)
        os.kill(os.getpid(), signal.SIGTERM)
        await leading
        assert len(await world.two_known()) == 2


class Gone(StubRuntime):
    """A runtime that answers nothing while its machine is away."""

    async def stop(self, name: str, grace: float) -> None:
        if self.machine.away:
            await asyncio.Event().wait()
        await super().stop(name, grace)


async def test_workers_that_cannot_be_stopped_are_named(world: World):
    """The runtime is away, and the second signal waits for it no longer."""
    world.runtime = Gone(world.machine)
    async with world.term() as leading:
        names = await until(world.two_known)
        world.machine.away = "no answer"
        os.kill(os.getpid(), signal.SIGTERM)

        async def stopping() -> bool:
            status = await ask(world)
            return bool(status["closing"] and status["away"])

        await until(stopping)
        os.kill(os.getpid(), signal.SIGTERM)
        with pytest.raises(LeftError) as raised:
            await leading
    assert all(name in raised.value.message for name in names)
    assert "no answer" in raised.value.message
