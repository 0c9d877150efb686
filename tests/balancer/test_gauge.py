"""What a worker costs."""

from __future__ import annotations

import pytest

from steelyard.balancer.counters import Bell, Tally
from steelyard.balancer.gauge import GAUGES, Gauge, assume


@pytest.mark.parametrize("gauge", GAUGES.values(), ids=GAUGES.keys())
def test_the_first_observation_replaces_what_was_assumed(gauge: Gauge) -> None:
    """And is the first that was seen."""
    tally = Tally(Bell(), None)
    tally.cost = 99.0
    gauge(tally, 0.5, 1, 7.0)
    assert (tally.cost, tally.seen) == (0.5, 7.0)
    gauge(tally, 0.1, 1, 8.0)
    assert 0.1 < tally.cost < 0.5


def test_the_unknown_are_average() -> None:
    """Nobody known: nothing is assumed. Somebody: the mean, and only of who is known."""
    tallies = [Tally(Bell(), None) for _ in range(4)]
    assume(tallies)
    assert [tally.cost for tally in tallies] == [0, 0, 0, 0]
    tallies[0].cost, tallies[1].cost = 1.0, 3.0
    assume(tallies)
    assert [tally.cost for tally in tallies] == [1, 3, 2, 2]
