"""Tests of counters and leases."""

from __future__ import annotations

import asyncio

from hypothesis import given
from hypothesis import strategies as st

from steelyard.balancer.pool.counters import Bell, Lease, Tally, bucket
from steelyard.core.report import BOUNDS


def taken(tally: Tally) -> Lease:
    """A lease that has been taken."""
    lease = Lease(tally)
    lease.take()
    return lease


def test_a_lease_is_given_back_once() -> None:
    """However often a lease is taken or released, the count of exchanges changes by one."""
    tally = Tally(Bell())
    first, second = taken(tally), taken(tally)
    second.take()
    assert tally.inflight == 2
    first.release(failed=True)
    first.release(failed=True)
    assert (tally.inflight, tally.requests, tally.failures) == (1, 1, 1)
    second.release(failed=False)
    assert (tally.inflight, tally.requests, tally.failures) == (0, 2, 1)


def test_time_to_first_byte() -> None:
    """Times to the first byte are added up and put into buckets, and statuses into classes."""
    tally = Tally(Bell())
    for seconds, status in ((0.0001, 200), (0.0009, 204), (1000.0, 503)):
        tally.first_byte(seconds, status)
    assert (tally.statuses[2], tally.statuses[5], sum(tally.statuses)) == (2, 1, 3)
    assert tally.histogram[0] == 1
    assert tally.histogram[1] == 1
    assert tally.histogram[-1] == 1
    assert tally.seconds == 1000.001


async def test_the_bell_rings_when_a_leaving_worker_is_done() -> None:
    """The bell rings only for the last exchange of a worker that leaves."""
    bell, news = Bell(), asyncio.Event()
    bell.ring()  # a bell that is not hung up yet is silent
    bell.hang(asyncio.get_running_loop(), news)
    tally = Tally(bell)
    taken(tally).release(failed=False)
    await asyncio.sleep(0)
    assert not news.is_set()
    tally.leaving = True
    first, second = taken(tally), taken(tally)
    first.release(failed=False)
    await asyncio.sleep(0)
    assert not news.is_set()
    second.release(failed=False)
    await news.wait()


def test_a_bell_whose_loop_is_closed_is_silent() -> None:
    """The data thread may ring the bell after the control thread has ended."""
    bell, loop = Bell(), asyncio.new_event_loop()
    bell.hang(loop, asyncio.Event())
    loop.close()
    bell.ring()


@given(st.floats(0, 1e4))
def test_a_time_falls_into_the_bucket_that_bounds_it(seconds: float) -> None:
    """A time is at most the upper bound of its bucket, and more than the bound below."""
    index = bucket(seconds)
    assert index == len(BOUNDS) or seconds <= BOUNDS[index]
    assert index == 0 or seconds > BOUNDS[index - 1]
