"""The claimant, with a store that can fail, in virtual time."""

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
    """The second agent of one process leads only after the first has released the lease."""
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
    """A leader that no longer claims, as if it were killed, is replaced."""
    store = MemoryStore("app", clock)
    first, second = Claimant(store, LEASE, clock), Claimant(store, LEASE, clock)
    await first.win()
    await second.win()
    assert (first.leads(), second.leads()) == (False, True)


@in_virtual_time
async def test_a_leader_keeps_its_lease_for_longer_than_it_lasts():
    """A leader keeps its lease as long as it renews it."""
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
    """A leader without its store stops before another agent can be granted the lease."""
    store = Fragile("app", clock)
    first = Claimant(store, LEASE, clock)
    await first.win()
    store.trouble = trouble
    why = await first.keep()
    assert "the store" in why
    assert not first.leads()


@in_virtual_time
async def test_a_leader_that_is_refused_stops_at_once():
    """A refusal ends a term before the grant expires, for instance after the store was emptied."""
    store = MemoryStore("app", clock)
    first = Claimant(store, 60, clock=lambda: 0.0)
    await first.win()
    await store.release(first.holder)
    await store.claim("somebody", 60)
    first._lease.seconds = 0.2  # so that it sends its next claim soon
    assert await first.keep() == "somebody leads"
    assert not first.leads()


@in_virtual_time
async def test_a_process_that_was_held_up_leads_no_more():
    """A process that was paused for too long no longer leads, whatever the store answers."""
    now = 0.0
    first = Claimant(MemoryStore("app", clock), 60, clock=lambda: now)
    await first.win()
    assert first.leads()
    now = 50.0
    assert not first.leads()
    assert await first.keep() == "this process was paused for too long"
