"""Weights: the feedback loop from weight to load to score to weight."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from steelyard.core.weight import FULL, LEAST, follow_score, published

WEIGHTS = st.lists(st.floats(LEAST, FULL), min_size=2, max_size=8)


def utilization(weights: list[float], mean: float) -> list[float]:
    """The utilization of equal workers if requests are spread by weight."""
    whole = mean * len(weights)
    return [min(100.0, whole * weight / sum(weights)) for weight in weights]


def ticks(weights: list[float], mean: float, count: int) -> list[float]:
    for _ in range(count):
        load = utilization(weights, mean)
        weights = [follow_score(w, 100.0 - u) for w, u in zip(weights, load, strict=True)]
    return weights


@given(WEIGHTS, st.floats(1, 99))
def test_equal_workers_come_to_equal_shares_at_any_load(weights, mean):
    """Weights that begin unequal come together: no swing survives."""
    settled = ticks(weights, mean, 40)
    assert max(settled) - min(settled) < 1


def test_a_swing_shrinks_where_weight_as_score_would_keep_it():
    """At U = 60 a swing dies out, though weights equal to the scores would keep it up."""
    settled = ticks([100.0, 50.0], 60, 6)
    assert max(settled) - min(settled) < 2


@pytest.mark.parametrize(("score", "weight"), [(100, 100), (0, 25), (60, 70)])
def test_a_steady_score_has_a_weight(score, weight):
    """A saturated worker keeps a quarter of the weight, and a better score gives more."""
    settled = FULL
    for _ in range(60):
        settled = follow_score(settled, score)
    assert settled == pytest.approx(weight)


@pytest.mark.parametrize(
    ("weight", "told"), [(100, 100), (88, 100), (87, 75), (60, 50), (25, 25), (26, 25)]
)
def test_balancers_are_told_quarters(weight, told):
    """Published weights are multiples of 25, so that small differences vanish."""
    assert published(weight) == told
