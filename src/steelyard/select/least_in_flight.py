"""Least in flight: look at all members and take the one that will be done first (greedy).

This is Graham's list scheduling (1966); with weights, the greedy rule for related machines.
"""

from __future__ import annotations

import random
from collections.abc import Sequence
from itertools import count
from typing import Generic

from steelyard.select.base import B, entitled, generator, per_weight


class LeastInFlight(Generic[B]):
    """Picks the member with the fewest requests in flight per weight, counting the new one.

    This is O(n): a heap would have to be told of every request that ends, and n is the size of a
    fleet. Among equals it takes turns, so that idle members share the work.

    >>> from types import SimpleNamespace as Member
    >>> idle, busy = Member(inflight=0), Member(inflight=9)
    >>> LeastInFlight([busy, idle], [1, 1], random.Random(1)).pick() is idle
    True
    """

    __slots__ = ("_next", "_size", "_twice")

    def __init__(
        self, members: Sequence[B], weights: Sequence[float], rng: random.Random | None = None
    ) -> None:
        slots = [(member, per_weight(weight)) for member, weight in entitled(members, weights)]
        generator(rng).shuffle(slots)
        self._size = len(slots)
        self._twice = slots + slots  # so that each rotation is a slice
        self._next = count().__next__

    def pick(self) -> B:
        """The least busy member; among equals, the first after the last pick's start."""
        start = self._next() % self._size
        return min(self._twice[start : start + self._size], key=_load)[0]


def _load(slot: tuple[B, float]) -> float:
    return (slot[0].inflight + 1) * slot[1]
