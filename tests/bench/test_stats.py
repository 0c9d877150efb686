"""Median, spread, ratio, percentile."""

from __future__ import annotations

import pytest

from steelyard.bench.stats import median, percentile, ratio, spread


def test_median_is_the_middle():
    """The median of an even number is the mean of the middle two; without values it is unknown."""
    assert median([3, 1, 2]) == 2
    assert median([1, 2, 3, 4]) == 2.5
    assert median([]) is None


def test_spread_is_half_the_quartiles_distance_over_the_median():
    """One round that went astray does not change the spread."""
    assert spread([8, 9, 10, 11, 12]) == pytest.approx(0.1)
    assert spread([8, 9, 10, 11, 1000]) == pytest.approx(0.1)


@pytest.mark.parametrize("values", [[], [1.0], [0.0, 0.0]])
def test_spread_may_be_unknown(values):
    """The spread is unknown for fewer than two values, and around a median of 0."""
    assert spread(values) is None


def test_ratio_needs_both_sides():
    """An absent contender has no ratio, and no other has one to it."""
    assert ratio(3.0, 2.0) == 1.5
    assert ratio(None, 2.0) is None
    assert ratio(3.0, None) is None


def test_percentile_is_one_of_the_values():
    """The percentile is the smallest value that so many percent of the values do not exceed."""
    values = list(range(100, 0, -1))
    assert (percentile(values, 50), percentile(values, 99), percentile(values, 100)) == (
        50,
        99,
        100,
    )
    assert percentile([], 50) is None
