"""Weights that change while other threads pick."""

from __future__ import annotations

import random

import pytest

from steelyard.select import ConsistentHash, Live, SelectError, WeightedRandom, WeightedRing
from tests.laws.drive import members


def test_an_update_that_cannot_be_changes_nothing() -> None:
    """After a wrong update the old selector goes on at its place."""
    live = Live(WeightedRing, ["a", "b"], [1, 0])
    with pytest.raises(SelectError):
        live.update(["b"], [-1])
    with pytest.raises(SelectError):
        live.update([], [])
    assert [live.pick() for _ in range(3)] == ["a", "a", "a"]


def test_a_function_may_add_what_it_wants() -> None:
    """A function may make the selector, for example with a seed."""

    def make(among: list[str], weights: list[float]) -> WeightedRandom[str]:
        return WeightedRandom(among, weights, random.Random(3))

    first, second = (Live(make, ["a", "b"], [1, 2]) for _ in range(2))
    assert [first.pick() for _ in range(99)] == [second.pick() for _ in range(99)]


def test_a_policy_with_a_key_keeps_its_key() -> None:
    """The arguments of `pick` depend on the policy."""
    fleet = members(3)
    live = Live(ConsistentHash, fleet, [1, 1, 1])
    home = live.pick(b"client 7")
    live.update([member for member in fleet if member is not home], [1, 1])
    assert live.pick(b"client 7") is not home
