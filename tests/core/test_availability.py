"""Availability: the formula, term by term, and its corner cases."""

from __future__ import annotations

from math import exp

import pytest
from hypothesis import given
from hypothesis import strategies as st

from steelyard.core.availability import Availability, Memory, availability, penalty, smooth, trend


def test_a_steady_worker_is_fully_available():
    """When every answer takes the best time, every term but the base is 0."""
    assert availability([0.1] * 20, best=0.1) == 100


def test_base_falls_with_the_power_of_one_and_a_half():
    """A single sample four times as slow as the best gives 100 · (1/4)^1.5."""
    assert availability([0.4], best=0.1) == pytest.approx(12.5)


def test_effective_time_is_three_parts_current_seven_parts_average():
    """A slow newest answer counts 0.3 on top of its part in the average."""
    times = [0.1, 0.3]
    effective = 0.3 * 0.3 + 0.7 * 0.2
    base = 100 * (0.1 / effective) ** 1.5
    assert availability(times, best=0.1) == pytest.approx(base + 10 * trend(times))


def test_penalty_starts_at_the_threshold_and_stays_below_twenty():
    """The penalty is 20 · (1 − e^−excess)."""
    assert penalty(1.0, 1.0) == 0
    assert penalty(2.0, 1.0) == pytest.approx(20 * (1 - exp(-1)))
    assert penalty(1e9, 1.0) <= 20


@pytest.mark.parametrize(
    ("times", "expected"),
    [([], 0), ([1.0], 0), ([2.0, 1.0], 0.5), ([1.0, 2.0], -1.0), ([0.0, 1.0], 0)],
)
def test_trend_compares_the_halves_and_never_divides_by_zero(times, expected):
    """The trend is the relative gain of the newer half, or 0 if there is nothing to compare."""
    assert trend(times) == expected


def test_best_times_expire():
    """One lucky answer counts as the best time only within the window."""
    worker = Availability(Memory(history=1, best=1, best_age=60, smoothing=1.0))
    worker.add(0.001, now=0)
    assert worker.add(1.0, now=30) < 1
    assert worker.add(1.0, now=100) == 100


def test_the_score_is_smoothed():
    """A new value moves the score only by the share that `smoothing` gives it."""
    worker = Availability(Memory(smoothing=0.2))
    assert worker.add(0.1, now=0) == 100
    raw = availability([0.1, 0.4], best=0.25)
    assert worker.add(0.4, now=1) == pytest.approx(smooth(100, raw, 0.2))


@given(st.lists(st.floats(0, 1e6), min_size=1, max_size=50))
def test_any_times_give_a_score_in_bounds(times):
    """The score stays within 0…100 for any times, zeros included."""
    worker = Availability(Memory())
    for moment, seconds in enumerate(times):
        assert 0 <= worker.add(seconds, float(moment)) <= 100
