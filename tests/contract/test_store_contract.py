"""What every store must do. A new one joins by adding its factory to STORES."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable
from pathlib import Path

import pytest

from steelyard.core.lifecycle import State
from steelyard.core.record import LimitsRecord, WorkerRecord
from steelyard.store.base import Store
from steelyard.store.memory import MemoryStore
from steelyard.store.sqlite import SqliteStore

STORES: dict[str, Callable[[str, Path], Store]] = {
    "memory": lambda application, folder: MemoryStore(application),
    "sqlite": lambda application, folder: SqliteStore(application, folder / "store.sqlite"),
}
LASTING = ["sqlite"]


def record(name: str, application: str = "app", state: State = State.LU) -> WorkerRecord:
    """A record whose fields all differ from their neutral values."""
    return WorkerRecord(
        application=application,
        name=name,
        state=state,
        score=61.25,
        host="127.0.0.1",
        port=21007,
        source="uvicorn 'my app:app' --port {port} ü",
        default=True,
        sequence=3,
    )


LIMITS = LimitsRecord(min=2, max=9, configured_min=4, configured_max=8)


@pytest.fixture(params=STORES)
async def store(request: pytest.FixtureRequest, tmp_path: Path) -> AsyncIterator[Store]:
    """An open store of the application `app`."""
    found = STORES[request.param]("app", tmp_path)
    await found.open()
    yield found
    await found.close()


async def test_new_store_is_empty(store: Store) -> None:
    """A new store has no worker and no limits."""
    assert await store.workers() == []
    assert await store.limits() is None


@pytest.mark.parametrize("state", State)
async def test_record_round_trip(store: Store, state: State) -> None:
    """Every field of a record comes back as it was, in every state."""
    await store.save(record("one", state=state))
    assert await store.workers() == [record("one", state=state)]


async def test_save_replaces(store: Store) -> None:
    """A record saved again replaces the one with its key."""
    await store.save(record("one"))
    changed = record("one").model_copy(update={"score": 7.0, "default": False, "port": 1})
    await store.save(changed)
    assert await store.workers() == [changed]


async def test_workers_come_by_name(store: Store) -> None:
    """Records are listed by name, whatever the order they were saved in."""
    for name in ("b", "c", "a"):
        await store.save(record(name))
    assert [found.name for found in await store.workers()] == ["a", "b", "c"]


async def test_delete_is_idempotent(store: Store) -> None:
    """Deleting twice, or what was never there, is deleting."""
    await store.save(record("one"))
    await store.save(record("two"))
    for name in ("one", "one", "never"):
        await store.delete(name)
    assert await store.workers() == [record("two")]


async def test_limits_round_trip_and_replace(store: Store) -> None:
    """The limits last saved are the limits."""
    await store.save_limits(LIMITS.model_copy(update={"max": 20}))
    await store.save_limits(LIMITS)
    assert await store.limits() == LIMITS


async def test_concurrent_saves(store: Store) -> None:
    """Saves at the same time all arrive."""
    await asyncio.gather(*(store.save(record(f"w{number:03}")) for number in range(100)))
    assert len(await store.workers()) == 100


@pytest.mark.parametrize("kind", STORES)
async def test_applications_do_not_see_each_other(kind: str, tmp_path: Path) -> None:
    """Two applications in one place have their own workers and limits."""
    mine, other = STORES[kind]("app", tmp_path), STORES[kind]("other", tmp_path)
    await mine.open()
    await other.open()
    await mine.save(record("one"))
    await mine.save_limits(LIMITS)
    await other.save(record("one", application="other"))
    await other.delete("two")
    assert await mine.workers() == [record("one")]
    assert await other.workers() == [record("one", application="other")]
    assert await other.limits() is None
    await mine.close()
    await other.close()


@pytest.mark.parametrize("kind", LASTING)
async def test_records_last(kind: str, tmp_path: Path) -> None:
    """What was saved is there when the store is opened again."""
    first = STORES[kind]("app", tmp_path)
    await first.open()
    await first.save(record("one"))
    await first.save_limits(LIMITS)
    await first.close()
    second = STORES[kind]("app", tmp_path)
    await second.open()
    assert (await second.workers(), await second.limits()) == ([record("one")], LIMITS)
    await second.close()


@pytest.mark.parametrize("kind", STORES)
async def test_url_names_the_kind(kind: str, tmp_path: Path) -> None:
    """A store says what it is, for people to read."""
    assert STORES[kind]("app", tmp_path).url.startswith(f"{kind}:")
