"""The contract that every store must keep. A new store joins by its factory in STORES."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable

import pytest

from steelyard.core.commands import Forget, Save, SaveLimits
from steelyard.core.lifecycle import State
from steelyard.core.record import LimitsRecord, WorkerRecord
from steelyard.errors import StoreError
from steelyard.store.base import Store
from steelyard.store.memory import MemoryStore
from steelyard.store.sqlite import SqliteStore

Make = Callable[[str], Store]


def _memory(request: pytest.FixtureRequest) -> Make:
    return MemoryStore


def _sqlite(request: pytest.FixtureRequest) -> Make:
    path = request.getfixturevalue("tmp_path") / "store.sqlite"
    return lambda application: SqliteStore(application, path)


def _redis(request: pytest.FixtureRequest) -> Make:
    # Imported late, for modules that need only `record`.
    from steelyard.store.redis import RedisStore

    url = request.getfixturevalue("redis_server").url
    return lambda application: RedisStore(application, url)


STORES = {"memory": _memory, "sqlite": _sqlite, "redis": _redis}
LASTING = ["sqlite", pytest.param("redis", marks=pytest.mark.needs("redis"))]
ALL = ["memory", *LASTING]


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


@pytest.fixture(params=ALL)
def make(request: pytest.FixtureRequest) -> Make:
    """Makes stores of one kind in one place, by application."""
    return STORES[request.param](request)


@pytest.fixture
async def store(make: Make) -> AsyncIterator[Store]:
    """An open store of the application `app`."""
    found = make("app")
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
    await store.write([Save(record("one", state=state))])
    assert await store.workers() == [record("one", state=state)]


async def test_save_replaces(store: Store) -> None:
    """A record saved again replaces the one with its key."""
    await store.write([Save(record("one"))])
    changed = record("one").model_copy(update={"score": 7.0, "default": False, "port": 1})
    await store.write([Save(changed)])
    assert await store.workers() == [changed]


async def test_workers_come_by_name(store: Store) -> None:
    """Records are listed by name, whatever the order they were saved in."""
    for name in ("b", "c", "a"):
        await store.write([Save(record(name))])
    assert [found.name for found in await store.workers()] == ["a", "b", "c"]


async def test_delete_is_idempotent(store: Store) -> None:
    """Forgetting a worker twice, or one that was never there, is no error."""
    await store.write([Save(record("one"))])
    await store.write([Save(record("two"))])
    for name in ("one", "one", "never"):
        await store.write([Forget(name)])
    assert await store.workers() == [record("two")]


async def test_limits_round_trip_and_replace(store: Store) -> None:
    """The limits that were saved last count."""
    await store.write([SaveLimits(LIMITS.model_copy(update={"max": 20}))])
    await store.write([SaveLimits(LIMITS)])
    assert await store.limits() == LIMITS


async def test_concurrent_saves(store: Store) -> None:
    """Saves at the same time all arrive."""
    await asyncio.gather(*(store.write([Save(record(f"w{number:03}"))]) for number in range(100)))
    assert len(await store.workers()) == 100


async def test_changes_come_together_and_in_order(store: Store) -> None:
    """The last change of a worker counts."""
    again = record("one").model_copy(update={"port": 7})
    await store.write(
        [Save(record("one")), Save(record("two")), Forget("two"), SaveLimits(LIMITS), Save(again)]
    )
    assert (await store.workers(), await store.limits()) == ([again], LIMITS)
    await store.write([])
    assert await store.workers() == [again]


async def test_applications_do_not_see_each_other(make: Make) -> None:
    """Two applications in one place have their own workers and limits."""
    mine, other = make("app"), make("other")
    await mine.open()
    await other.open()
    await mine.write([Save(record("one"))])
    await mine.write([SaveLimits(LIMITS)])
    await other.write([Save(record("one", application="other"))])
    await other.write([Forget("two")])
    assert await mine.workers() == [record("one")]
    assert await other.workers() == [record("one", application="other")]
    assert await other.limits() is None
    await mine.close()
    await other.close()


@pytest.mark.parametrize("make", LASTING, indirect=True)
async def test_records_last(make: Make) -> None:
    """What was saved is there when the store is opened again."""
    first = make("app")
    await first.open()
    await first.write([Save(record("one"))])
    await first.write([SaveLimits(LIMITS)])
    await first.close()
    second = make("app")
    await second.open()
    assert (await second.workers(), await second.limits()) == ([record("one")], LIMITS)
    await second.close()


async def test_url_names_the_kind(make: Make, request: pytest.FixtureRequest) -> None:
    """A store's URL names its kind, for people to read."""
    assert make("app").url.startswith(f"{request.node.callspec.params['make']}:")


async def test_the_lease_is_had_by_one(store: Store) -> None:
    """The holder keeps the lease, and all others are told its name."""
    assert await store.claim("a", 60) == "a"
    assert await store.claim("b", 60) == "a"
    assert await store.claim("a", 60) == "a"
    await store.release("b")
    assert await store.claim("b", 60) == "a"
    await store.release("a")
    assert await store.claim("b", 60) == "b"


async def test_the_lease_runs_out(store: Store) -> None:
    """A lease that ran out may go to any holder, and a claim by its holder extends it."""
    await store.claim("a", 0.05)
    while await store.claim("b", 60) != "b":
        await asyncio.sleep(0.01)
    await store.claim("b", 0.05)
    await store.claim("b", 60)
    await asyncio.sleep(0.1)  # beyond the time of the first claim
    assert await store.claim("a", 60) == "b"


async def test_of_many_claims_at_once_one_is_granted(store: Store) -> None:
    """One of many claims at once is granted, and all are told the same holder."""
    told = await asyncio.gather(*(store.claim(f"agent-{n}", 60) for n in range(20)))
    assert len(set(told)) == 1


async def test_changes_under_a_lease(store: Store) -> None:
    """Only the holder of the lease may write, and nothing of a refused batch is written."""
    with pytest.raises(StoreError, match="no lease"):
        await store.write([Save(record("one")), SaveLimits(LIMITS)], "a")
    await store.claim("a", 60)
    await store.write([Save(record("two"))], "a")
    with pytest.raises(StoreError, match="no lease"):
        await store.write([Forget("two")], "b")
    assert (await store.workers(), await store.limits()) == ([record("two")], None)


async def test_each_application_has_its_own_lease(make: Make) -> None:
    """The lease of another application does not count."""
    mine, other = make("app"), make("other")
    assert [await mine.claim("a", 60), await other.claim("b", 60)] == ["a", "b"]
    await mine.close()
    await other.close()
