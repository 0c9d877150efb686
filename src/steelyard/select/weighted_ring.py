"""Weighted ring: walk the shuffled slots, one step per pick."""

from __future__ import annotations

import random
from collections.abc import Callable, Sequence
from itertools import cycle
from typing import Generic, TypeVar

from steelyard.select.ring import build_ring

T = TypeVar("T")


class WeightedRing(Generic[T]):
    """Picks members in proportion to their weights: no lock, no random number, no division.

    `pick` is the bound `__next__` of an `itertools.cycle`: one C call that runs no Python code,
    so under the interpreter lock no two threads can take the same slot and none is skipped.
    The position is not shared between rings: each starts at its own, random first slot.

    >>> ring = WeightedRing(["a", "b"], [3, 1], random.Random(1), size=8)
    >>> sorted(ring.pick() for _ in range(ring.size))
    ['a', 'a', 'a', 'a', 'a', 'a', 'b', 'b']
    """

    __slots__ = ("pick", "size")

    pick: Callable[[], T]
    size: int  # slots; that many picks in a row visit every slot once

    def __init__(
        self,
        members: Sequence[T],
        weights: Sequence[float],
        rng: random.Random,
        size: int | None = None,
    ) -> None:
        slots = build_ring(members, weights, rng, size)
        self.size = len(slots)
        self.pick = cycle(slots).__next__

    def __repr__(self) -> str:
        return f"WeightedRing({self.size} slots)"
