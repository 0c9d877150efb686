"""The claimant, with a store that can be taken away, in virtual time."""

from __future__ import annotations

import asyncio

import pytest

from steelyard.agent.claimant import Claimant
from steelyard.errors import StoreError
from steelyard.store.memory import MemoryStore
from tests.virtual_time import clock, in_virtual_time

LEASE = 0.2


class Fragile(MemoryStore):
    """A store that can fail or never answer."""

    trouble: str = ""

    async def claim(self, holder: str, seconds: float) -> str:
        if self.trouble == "down":
            raise StoreError("down")
        if self.trouble == "hangs":
            await asyncio.Event().wait()
        return await super().claim(holder, seconds)


@in_virtual_time
async def test_the_first_leads_and_the_next_when_it_lets_go():
    """No two have one name, even in one process."""
    store = MemoryStore("app", clock)
    first, second = Claimant(store, 60, clock), Claimant(store, LEASE, clock)
    await first.win()
    waiting = asyncio.create_task(second.win())
    with pytest.raises(TimeoutError):
        await asyncio.wait_for(asyncio.shield(waiting), 3 * LEASE)
    assert (first.leads(), second.leads()) == (True, False)
    await first.release()
    await waiting
    assert second.leads()


@in_virtual_time
async def test_a_leader_that_is_silent_is_followed():
    """It claims no more, as if it were killed."""
    store = MemoryStore("app", clock)
    first, second = Claimant(store, LEASE, clock), Claimant(store, LEASE, clock)
    await first.win()
    await second.win()
    assert (first.leads(), second.leads()) == (False, True)


@in_virtual_time
async def test_a_leader_keeps_its_lease_for_longer_than_it_lasts():
    """As long as it asks for it."""
    store = MemoryStore("app", clock)
    first = Claimant(store, 1.0, clock)
    await first.win()
    keeping = asyncio.create_task(first.keep())
    with pytest.raises(TimeoutError):
        await asyncio.wait_for(asyncio.shield(keeping), 1.5)
    assert first.leads()
    keeping.cancel()


@pytest.mark.parametrize("trouble", ["down", "hangs"])
@in_virtual_time
async def test_a_leader_without_its_store_stops_in_time(trouble: str):
    """Before anybody else can be granted the lease."""
    store = Fragile("app", clock)
    first = Claimant(store, LEASE, clock)
    await first.win()
    store.trouble = trouble
    why = await first.keep()
    assert "the store" in why
    assert not first.leads()


@in_virtual_time
async def test_a_leader_that_is_refused_stops_at_once():
    """With its own clock saying that there is time left; the store was emptied, say."""
    store = MemoryStore("app", clock)
    first = Claimant(store, 60, clock=lambda: 0.0)
    await first.win()
    await store.release(first.holder)
    await store.claim("somebody", 60)
    first._lease.seconds = 0.2  # claims soon
    assert await first.keep() == "somebody leads"
    assert not first.leads()


@in_virtual_time
async def test_a_process_that_was_held_up_leads_no_more():
    """Even though the store would have it lead."""
    now = 0.0
    first = Claimant(MemoryStore("app", clock), 60, clock=lambda: now)
    await first.win()
    assert first.leads()
    now = 50.0
    assert not first.leads()
    assert await first.keep() == "this process was held up for too long"
