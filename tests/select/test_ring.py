"""From weights to slots."""

from __future__ import annotations

import itertools
import random
from collections import Counter

import pytest
from hypothesis import given
from hypothesis import strategies as st

from steelyard.select.base import SelectError
from steelyard.select.ring import apportion, build_ring, default_size, fitting_size


@pytest.mark.parametrize(
    ("weights", "size", "slots"),
    [
        ([1, 1], 4, [2, 2]),
        ([3, 1], 4, [3, 1]),
        ([2, 1], 4, [3, 1]),
        ([1, 1, 1], 4, [2, 1, 1]),
        ([1, 0], 4, [4, 0]),
        ([0, 0], 4, [2, 2]),
        ([1000, 1], 4, [3, 1]),
        ([1000, 1, 1, 1], 4, [1, 1, 1, 1]),
        ([5, 3, 1], 3, [1, 1, 1]),
        ([1, 1, 1], 2, [1, 1, 1]),
        ([1e308, 1e308], 4, [2, 2]),
        ([1e308, 5e-324], 4, [3, 1]),
        ([7.5], 4, [4]),
    ],
)
def test_apportion(weights: list[float], size: int, slots: list[int]) -> None:
    """Slots follow the weights by largest remainder and leave no member out."""
    assert apportion(weights, size) == slots


@pytest.mark.parametrize("weights", [[], [-1.0], [float("nan")], [float("inf"), 1.0]])
def test_weights_that_cannot_be(weights: list[float]) -> None:
    """No weights, negative and infinite ones are refused."""
    with pytest.raises(SelectError):
        apportion(weights, 8)


@given(st.lists(st.floats(0, 1e9), min_size=1, max_size=40), st.integers(1, 400))
def test_apportion_laws(weights: list[float], size: int) -> None:
    """Every slot is given, no weight above 0 starves, and a heavier weight never gets fewer."""
    slots = apportion(weights, size)
    positive = sum(weight > 0 for weight in weights) or len(weights)
    assert sum(slots) == max(size, positive)
    if any(weights):
        assert all(
            (share > 0) == (weight > 0) for share, weight in zip(slots, weights, strict=True)
        )
    ordered = sorted(zip(weights, slots, strict=True))
    assert all(low[1] <= high[1] for low, high in itertools.pairwise(ordered))


@given(st.integers(1, 500))
def test_default_size_divides_equally(members: int) -> None:
    """Equal weights get exactly equal shares, from 64 slots on and at least 16 per member."""
    size = default_size(members)
    assert size >= 64
    assert size >= 16 * members
    assert len(set(apportion([1.0] * members, size))) == 1


@pytest.mark.parametrize(
    ("weights", "size"),
    [
        ([100, 50, 25, 5], 72),
        ([100, 95, 90, 85], 74),
        ([1, 1, 1], 66),
        ([0, 0], 64),
        ([1e308, 1e308], 64),
        ([1] * 40, 640),
    ],
)
def test_a_small_ring_has_the_size_that_fits_its_weights(weights: list[float], size: int) -> None:
    """A small ring may be a few slots larger for exact shares; equal weights keep the default."""
    assert fitting_size(weights) == size


@given(st.lists(st.floats(0, 1e300), min_size=1, max_size=40))
def test_a_fitting_size_is_near_the_default(weights: list[float]) -> None:
    """The size is near the default for any weights, including the smallest and largest floats."""
    assert 0 <= fitting_size(weights) - default_size(len(weights)) < 64


def test_ring_is_shuffled_by_the_injected_generator() -> None:
    """The same seed gives the same ring, another seed another order of the same slots."""
    members, weights = ["a", "b", "c"], [1.0, 2.0, 3.0]
    first = build_ring(members, weights, random.Random(1))
    assert first == build_ring(members, weights, random.Random(1))
    other = build_ring(members, weights, random.Random(2))
    assert first != other
    assert Counter(first) == Counter(other)


def test_members_and_weights_must_match() -> None:
    """A missing weight is an error, and not guessed."""
    with pytest.raises(SelectError, match="2 members but 1 weights"):
        build_ring(["a", "b"], [1.0], random.Random(0))
