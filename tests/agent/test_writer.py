"""The writer, with a store that can be taken down."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from contextlib import asynccontextmanager

from steelyard.agent.writer import Writer
from steelyard.core.commands import Change, Forget
from steelyard.core.lifecycle import State
from steelyard.core.record import LimitsRecord, WorkerRecord
from steelyard.errors import StoreError
from steelyard.store.memory import MemoryStore


def record(name: str, score: float) -> WorkerRecord:
    return WorkerRecord(
        application="app", name=name, state=State.LU, score=score, host="127.0.0.1", port=1,
        source="serve", default=True, sequence=0,
    )  # fmt: skip


class Fragile(MemoryStore):
    """A store that is down until `up` is set, and counts its calls."""

    def __init__(self) -> None:
        super().__init__("app")
        self.up = asyncio.Event()
        self.tried = asyncio.Event()

    async def write(self, changes: Sequence[Change], holder: str = "") -> None:
        self.tried.set()
        if not self.up.is_set():
            raise StoreError("down")
        await super().write(changes, holder)


class Slow(MemoryStore):
    """A store whose write takes as long as a test wants."""

    def __init__(self) -> None:
        super().__init__("app")
        self.asked = asyncio.Event()
        self.go_on = asyncio.Event()

    async def write(self, changes: Sequence[Change], holder: str = "") -> None:
        self.asked.set()
        await self.go_on.wait()
        await super().write(changes, holder)


@asynccontextmanager
async def writing(store: MemoryStore):
    writer = Writer(store, pause=0.01)
    task = asyncio.create_task(writer.run())
    yield writer
    task.cancel()


async def test_what_could_not_be_written_is_written_when_the_store_is_back():
    """When the store is back, only the newest change of each worker is written."""
    store = Fragile()
    async with writing(store) as writer:
        writer.save(record("a", 1))
        writer.save(record("b", 1))
        await store.tried.wait()
        writer.save(record("a", 2))
        writer.forget("b")
        store.tried.clear()
        await store.tried.wait()  # after one more failed attempt the writer knows of the failure
        assert writer.down == "down"
        store.up.set()
        await writer.flush(timeout=10)
        assert [(r.name, r.score) for r in await store.workers()] == [("a", 2)]
        assert writer.down == ""


async def test_a_change_made_during_a_write_is_written_after_it():
    """Changes that are made while the store is writing are written after that."""
    store = Slow()
    async with writing(store) as writer:
        writer.save(record("a", 1))
        writer.save(record("b", 1))
        await store.asked.wait()
        writer.save(record("a", 2))
        writer.forget("b")
        store.go_on.set()
        await writer.flush(timeout=10)
        assert [(r.name, r.score) for r in await store.workers()] == [("a", 2)]


async def test_limits_and_deletions_are_written():
    """Limits and deletions of workers reach the store."""
    store = MemoryStore("app")
    limits = LimitsRecord(min=1, max=2, configured_min=3, configured_max=4)
    async with writing(store) as writer:
        writer.save(record("a", 1))
        writer.save_limits(limits)
        await writer.flush(timeout=10)
        assert await store.limits() == limits
        writer.forget("a")
        await writer.flush(timeout=10)
        assert await store.workers() == []


async def test_a_store_that_comes_back_empty_is_told_everything():
    """A store that comes back empty gets all records, also those that have not changed."""
    store = Fragile()
    store.up.set()
    async with writing(store) as writer:
        writer.save(record("a", 1))
        writer.save(record("gone", 1))
        writer.forget("gone")
        await writer.flush(timeout=10)
        store.up.clear()
        writer.save(record("b", 1))
        while not writer.down:
            store.tried.clear()
            await store.tried.wait()
        store.up.set()
        await store.write([Forget("a")])
        await writer.flush(timeout=10)
        assert [r.name for r in await store.workers()] == ["a", "b"]


async def test_a_store_that_was_emptied_is_told_everything_when_asked():
    """`write_again` writes all records to a store that was emptied."""
    store = MemoryStore("app")
    async with writing(store) as writer:
        writer.save(record("a", 1))
        await writer.flush(timeout=10)
        await store.write([Forget("a")])
        writer.write_again()
        await writer.flush(timeout=10)
        assert await store.workers() == [record("a", 1)]


async def test_an_agent_that_does_not_lead_writes_nothing():
    """A writer whose agent does not hold the lease writes nothing until it does."""
    store = MemoryStore("app")
    writer = Writer(store, "me", pause=0.01)
    task = asyncio.create_task(writer.run())
    writer.save(record("a", 1))
    while not writer.down:
        await asyncio.sleep(0.01)
    assert await store.workers() == []
    await store.claim("me", 60)
    await writer.flush(timeout=10)
    assert await store.workers() == [record("a", 1)]
    task.cancel()
