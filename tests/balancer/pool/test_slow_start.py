"""Tests of how the weight of a new worker rises."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from steelyard.balancer.pool.slow_start import FIRST, SlowStart, ramp


@pytest.mark.parametrize(
    ("age", "part"), [(0, 0.1), (0.4, 0.1), (0.5, 0.145), (5, 0.55), (9.9, 0.955), (10, 1), (99, 1)]
)
def test_ramp(age: float, part: float) -> None:
    """The weight rises in steps from a tenth to the whole."""
    assert ramp(age, 10.0) == pytest.approx(part)


@given(st.floats(0, 1e6), st.floats(0, 1e6), st.floats(0, 1e5))
def test_it_never_falls(one: float, other: float, seconds: float) -> None:
    """The weight never falls with age, and is never less than a tenth."""
    young, old = sorted((one, other))
    assert FIRST <= ramp(young, seconds) <= ramp(old, seconds) <= 1


def test_who_came_when() -> None:
    """Workers that join together rise together; a worker that joins later, or again, has less."""
    slow: SlowStart[str] = SlowStart(10.0)
    slow.enter(frozenset(), 0.0)
    slow.enter({"a", "b"}, 1.0)
    assert slow.factor("a", 1.0) == slow.factor("b", 1.0) == FIRST
    slow.enter({"a", "c"}, 12.0)
    assert (slow.factor("a", 12.0), slow.factor("c", 12.0)) == (1.0, FIRST)
    slow.enter({"a", "b", "c"}, 17.0)
    assert (slow.factor("b", 17.0), slow.factor("c", 17.0)) == (FIRST, pytest.approx(0.55))


def test_it_can_be_switched_off() -> None:
    """A slow start of zero seconds gives a new worker its whole weight at once."""
    slow: SlowStart[str] = SlowStart(0.0)
    slow.enter({"a"}, 1.0)
    slow.enter({"a", "b"}, 1.0)
    assert slow.factor("b", 1.0) == 1.0
