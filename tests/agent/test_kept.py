"""Limits of an earlier agent, with a store that becomes available after the agent started."""

from __future__ import annotations

import asyncio

import pytest

from steelyard.agent import kept
from steelyard.agent.kept import KeptLimits
from steelyard.core.commands import SaveLimits
from steelyard.core.events import LimitsAsked
from steelyard.core.record import LimitsRecord
from steelyard.errors import StoreError
from steelyard.store.memory import MemoryStore

KEPT = LimitsRecord(min=3, max=5, configured_min=2, configured_max=4)


class Late(MemoryStore):
    """A store that is away at first."""

    def __init__(self) -> None:
        super().__init__("app")
        self.away = True
        self.asked = asyncio.Event()  # set when the limits were read successfully

    async def limits(self) -> LimitsRecord | None:
        if self.away:
            raise StoreError("away")
        self.asked.set()
        return await super().limits()


@pytest.fixture
async def store(monkeypatch: pytest.MonkeyPatch) -> Late:
    monkeypatch.setattr(kept, "AGAIN", 0.01)
    return Late()


async def test_they_count_as_soon_as_they_can_be_read(store, served):
    """Stored limits apply as soon as they can be read, though the agent began without them."""
    await store.write([SaveLimits(KEPT)])
    limits = KeptLimits(store)
    assert await limits.now() is None
    served.boot()
    async with limits.later(served.agent):
        store.away = False
        await store.asked.wait()
        await asyncio.sleep(0)
    found = served.agent.fleet.limits
    assert (found.min, found.max) == (3, 5)


@pytest.mark.parametrize(
    ("record", "asked"),
    [
        (KEPT, LimitsAsked(2, 3)),  # an operator set limits before the store was back
        (KEPT.model_copy(update={"configured_max": 9}), None),  # the configuration was changed
        (None, None),
    ],
)
async def test_they_do_not_count(store, served, record, asked):
    """Stored limits do not apply if an operator or the configuration has newer ones."""
    if record is not None:
        await store.write([SaveLimits(record)])
    limits = KeptLimits(store)
    assert await limits.now() is None
    served.boot()
    if asked is not None:
        served.agent.tell(asked)
    async with limits.later(served.agent):
        store.away = False
        await store.asked.wait()
        await asyncio.sleep(0)
    found = served.agent.fleet.limits
    assert (found.min, found.max) == ((2, 3) if asked else (2, 4))


async def test_a_store_that_is_there_is_asked_once(store, served):
    """A store that answers at the start is not asked for the limits again."""
    store.away = False
    await store.write([SaveLimits(KEPT)])
    limits = KeptLimits(store)
    assert await limits.now() == KEPT
    store.asked.clear()
    async with limits.later(served.agent):
        await asyncio.sleep(0)
    assert not store.asked.is_set()
