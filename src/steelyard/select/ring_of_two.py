"""Ring of two: the next two slots of a weighted ring, of which the less busy one is taken.

Two choices instead of one bring the longest line of n from log n / log log n down to
log log n / log 2 (Azar, Broder, Karlin, Upfal 1994; for queues: Mitzenmacher 1996). The ring
gives both choices without a random number.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Sequence
from itertools import cycle
from typing import Generic

from steelyard.select.base import B, entitled, per_weight
from steelyard.select.ring import build_ring


class RingOfTwo(Generic[B]):
    """Picks, of the next two slots, the member that has the fewer in flight per weight, the
    request to come included: that is how long the request would take there.

    Equally busy: the first, so that the ring's shares hold among equals.

    >>> from types import SimpleNamespace as Member
    >>> idle, busy = Member(inflight=0), Member(inflight=9)
    >>> selector = RingOfTwo([idle, busy], [1, 1], random.Random(1))
    >>> sum(selector.pick() is idle for _ in range(100)) > 60
    True
    """

    __slots__ = ("_step",)

    _step: Callable[[], tuple[B, float]]

    def __init__(self, members: Sequence[B], weights: Sequence[float], rng: random.Random) -> None:
        pairs = entitled(members, weights)
        slots = [(member, per_weight(weight)) for member, weight in pairs]
        self._step = cycle(build_ring(slots, [weight for _, weight in pairs], rng)).__next__

    def pick(self) -> B:
        """The less busy of the next two."""
        first, one = self._step()
        second, other = self._step()
        if (first.inflight + 1) * one <= (second.inflight + 1) * other:
            return first
        return second
