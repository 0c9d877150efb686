"""Shortest wait: take the member whose line, at the pace it was seen to have, ends first.

Least in flight treats a member that is twenty times slower like the others and lets one request in
every n wait for it: with service rates of 100 : 50 : 25 : 5 those are the slowest percents. Here
the pace is learned, so that weights need not tell it.
"""

from __future__ import annotations

import random
from collections.abc import Sequence
from itertools import count
from math import inf
from typing import Generic

from steelyard.select.base import N, entitled, per_weight

LOOK = 8  # members looked at per pick: all of a small fleet, and O(1) in a large one
UNKNOWN = 1e-9  # seconds; only when nobody's pace is known does it matter


class ShortestWait(Generic[N]):
    """Picks the member with the smallest `cost · (inflight + 1)` per weight.

    `cost` is kept by the member with `gauges.pace`. A weight of 1/2 makes it look half as fast.

    >>> from types import SimpleNamespace as Member
    >>> fast, slow = Member(inflight=3, cost=0.01), Member(inflight=0, cost=0.2)
    >>> ShortestWait([fast, slow], [1, 1], random.Random(1)).pick() is fast
    True
    """

    __slots__ = ("_look", "_next", "_size", "_twice")

    def __init__(self, members: Sequence[N], weights: Sequence[float], rng: random.Random) -> None:
        slots = [(member, per_weight(weight)) for member, weight in entitled(members, weights)]
        rng.shuffle(slots)
        self._size = len(slots)
        self._look = min(LOOK, self._size)
        self._twice = slots + slots  # each rotation is a slice of it
        self._next = count().__next__

    def pick(self) -> N:
        """The one of the next few that is likely to be done first; among equals, the next."""
        start = self._next() % self._size
        shortest = inf
        for member, per in self._twice[start : start + self._look]:
            wait = (member.cost or UNKNOWN) * (member.inflight + 1) * per
            if wait < shortest:
                shortest, best = wait, member
        return best
