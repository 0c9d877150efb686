"""Tests of how the cost of a worker is estimated."""

from __future__ import annotations

import pytest

from steelyard.balancer.pool.counters import Bell, Tally
from steelyard.balancer.pool.latency import (
    BRISK,
    ESTIMATORS,
    FAILED,
    Estimator,
    assume,
    by_pace,
    forget,
)
from steelyard.select.gauges import BOLD, DECAY, NEWEST


def tally(cost: float = 0.0, seen: float = 0.0, requests: int = 1000) -> Tally:
    made = Tally(Bell())
    made.cost = made.learned = cost
    made.seen = seen
    made.requests = requests
    return made


@pytest.mark.parametrize("gauge", ESTIMATORS.values(), ids=ESTIMATORS.keys())
def test_the_first_observation_replaces_what_was_assumed(gauge: Estimator) -> None:
    """The first time measured replaces the assumed cost, and later times change it gradually."""
    one = tally(cost=99.0, requests=0)
    gauge(one, 0.5, 1, 7.0)
    one.requests = 1
    assert (one.cost, one.learned, one.seen) == (0.5, 0.5, 7.0)
    gauge(one, 0.1, 1, 8.0)
    assert 0.1 < one.cost < 0.5


def test_one_slow_answer_does_not_make_a_slow_worker() -> None:
    """Slow answers at the same moment, however many, raise the cost as little as a single one."""
    one = tally(cost=0.01, seen=10.0)
    by_pace(one, 1000.0, 1, 20.0)
    assert one.cost == pytest.approx(0.01 * (1 + (BOLD - 1) * NEWEST))
    for _ in range(50):
        by_pace(one, 1000.0, 1, 20.0)
    assert one.cost == pytest.approx(0.01 * (1 + (BOLD - 1) * NEWEST))


def test_one_that_has_become_slow_is_found_out() -> None:
    """The cost of a worker that has become slow rises towards the new times within 50 answers."""
    one = tally(cost=0.01, seen=10.0)
    for number in range(50):
        by_pace(one, 0.2, 1, 11.0 + number)
    assert 0.1 < one.cost <= 0.2


def test_failures_make_a_worker_costly() -> None:
    """Failures raise the cost of a worker, and tell nothing of a worker that never answered."""
    one = tally(cost=0.01, seen=10.0)
    for number in range(60):
        by_pace(one, FAILED, 1, 11.0 + number)
    assert 0.5 < one.cost < 60
    new = tally()
    by_pace(new, FAILED, 1, 11.0)
    assert (new.cost, new.seen) == (0.0, 0.0)


def test_a_try_that_goes_well_is_believed() -> None:
    """A good answer after a cost has faded confirms the cost, and lowers the cost learned."""
    slow, fast = tally(cost=1.0, seen=1.0), tally(cost=0.01, seen=1.0)
    for number in range(20):
        forget([slow, fast], 2.0 + number, 3.0 + number, answers=1000)
    assert slow.cost < 0.05 < slow.learned == 1.0
    guess = slow.cost
    by_pace(slow, 0.9 * guess, 1, 30.0)
    assert slow.cost <= guess < slow.learned < 0.2
    for number in range(4):
        by_pace(slow, 0.9 * slow.cost, 1, 31.0 + number)
    assert slow.learned == slow.cost


def test_one_good_try_is_not_proof() -> None:
    """A slow answer that follows a good one leads back towards the cost learned before."""
    slow, fast = tally(cost=1.0, seen=1.0), tally(cost=0.01, seen=1.0)
    forget([slow, fast], 2.0, 2.0 + 3 * DECAY, answers=1000)
    by_pace(slow, 0.001, 1, 30.0)
    assert slow.cost < 0.05
    by_pace(slow, 1.0, 1, 31.0)
    assert slow.cost > 0.2


def test_a_try_that_goes_badly_restores_what_was_known() -> None:
    """A slow answer of a worker whose cost had faded restores the cost learned before."""
    slow, fast = tally(cost=1.0, seen=1.0), tally(cost=0.01, seen=1.0)
    forget([slow, fast], 2.0, 2.0 + 3 * DECAY, answers=1000)
    assert slow.cost < 0.1
    by_pace(slow, 1.0, 1, 30.0)
    assert slow.cost == slow.learned == pytest.approx(1.0)


def test_nobody_fades_below_the_best() -> None:
    """A cost fades no lower than the lowest cost measured: a guess must not look better."""
    slow, fast = tally(cost=1.0, seen=1.0), tally(cost=0.01, seen=1.0)
    forget([slow, fast], 2.0, 1e6, answers=10**9)
    assert (slow.cost, fast.cost) == (0.01, 0.01)


def test_only_the_idle_fade_and_only_as_fast_as_there_is_traffic() -> None:
    """Costs fade only for idle workers, and the faster the more requests there are."""
    busy, idle, fast = tally(1.0, 1.0), tally(1.0, 1.0), tally(0.01, 1.0)
    busy.inflight = 1
    forget([busy, idle, fast], 2.0, 3.0, answers=0)
    assert (busy.cost, idle.cost) == (1.0, 1.0)
    forget([busy, idle, fast], 3.0, 3.0 + DECAY, answers=int(DECAY * BRISK / 2))
    assert busy.cost == 1.0
    assert idle.cost == pytest.approx(0.607, abs=0.001)


def test_the_unknown_are_average() -> None:
    """A worker without an answer is assumed to cost the mean of the others, if there are any."""
    tallies = [tally() for _ in range(4)]
    assume(tallies)
    assert [one.cost for one in tallies] == [0, 0, 0, 0]
    for one, cost in zip(tallies, (1.0, 3.0), strict=False):
        one.cost = one.learned = cost
    assume(tallies)
    assert [one.cost for one in tallies] == [1, 3, 2, 2]
