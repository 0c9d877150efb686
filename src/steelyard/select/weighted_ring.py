"""Weighted ring: walk the shuffled slots, one step per pick."""

from __future__ import annotations

import random
from collections.abc import Callable, Sequence
from typing import Generic, TypeVar

from steelyard.select.base import generator
from steelyard.select.ring import build_ring
from steelyard.select.walk import Walk

T = TypeVar("T")


class WeightedRing(Walk, Generic[T]):
    """Picks members in proportion to their weights: no lock, no random number, no division.

    A pick is one step of a `Walk`. Rings do not share a position: each starts at a random slot of
    its own.

    >>> ring = WeightedRing(["a", "b"], [3, 1])
    >>> ring.pick() in "ab"
    True
    >>> ring = WeightedRing(["a", "b"], [3, 1], random.Random(1), size=8)
    >>> sorted(ring.pick() for _ in range(ring.size))
    ['a', 'a', 'a', 'a', 'a', 'a', 'b', 'b']
    """

    __slots__ = ("size",)

    pick: Callable[[], T]
    size: int  # slots; that many picks in a row visit every slot once

    def __init__(
        self,
        members: Sequence[T],
        weights: Sequence[float],
        rng: random.Random | None = None,
        size: int | None = None,
    ) -> None:
        slots = build_ring(members, weights, generator(rng), size)
        super().__init__(slots)
        self.size = len(slots)

    def __repr__(self) -> str:
        return f"WeightedRing({self.size} slots)"
