"""Ring of two: of the next two slots of a weighted ring, take the less busy one.

Two choices instead of one bring the longest of n queues from log n / log log n down to log log n /
log 2 (Azar, Broder, Karlin, Upfal 1994; for queues: Mitzenmacher 1996). The ring gives both choices
without a random number.
"""

from __future__ import annotations

import random
from collections.abc import Sequence
from itertools import count
from typing import Generic

from steelyard.select.base import B, entitled, generator, per_weight
from steelyard.select.ring import build_ring


class RingOfTwo(Generic[B]):
    """Picks the next slot's member, unless the one after has fewer requests in flight per weight.

    The walk moves by one slot per pick, so that idle members get exactly the ring's shares, in
    turn.

    >>> from types import SimpleNamespace as Member
    >>> idle, busy = Member(inflight=0), Member(inflight=9)
    >>> selector = RingOfTwo([idle, busy], [1, 1], random.Random(1))
    >>> sum(selector.pick() is idle for _ in range(100)) > 60
    True
    """

    __slots__ = ("_next", "_size", "_slots")

    def __init__(
        self, members: Sequence[B], weights: Sequence[float], rng: random.Random | None = None
    ) -> None:
        pairs = entitled(members, weights)
        slots = [(member, per_weight(weight)) for member, weight in pairs]
        ring = build_ring(slots, [weight for _, weight in pairs], generator(rng))
        self._size = len(ring)
        self._slots = [*ring, ring[0]]
        self._next = count().__next__

    def pick(self) -> B:
        """The less busy of the next two members; if they are equally busy, the first."""
        at = self._next() % self._size
        first, one = self._slots[at]
        second, other = self._slots[at + 1]
        return first if first.inflight * one <= second.inflight * other else second
