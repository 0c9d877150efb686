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
from steelyard.select.round_robin import round_of

LOOK = 8  # turns looked at per pick: all of a small fleet, and O(1) in a large one
# Waits within this factor of the shortest count as equal: a learned pace is off by a quarter or
# more, and equally fast members are to share the work even when requests come one by one.
ALIKE = 2.0
UNKNOWN = 1e-9  # seconds; only when nobody's pace is known does it matter


class ShortestWait(Generic[N]):
    """Picks, of the next turns of a weighted round robin, the first whose wait is about the
    shortest: `cost · (1 + inflight / weight)`.

    `cost` is kept by the member with `gauges.pace`. Idle members of one pace thus share by weight;
    a line counts for more at a lighter member.

    >>> from types import SimpleNamespace as Member
    >>> fast, slow = Member(inflight=3, cost=0.01), Member(inflight=0, cost=0.2)
    >>> ShortestWait([fast, slow], [1, 1], random.Random(1)).pick() is fast
    True
    """

    __slots__ = ("_look", "_next", "_size", "_turns")

    def __init__(self, members: Sequence[N], weights: Sequence[float], rng: random.Random) -> None:
        pairs = entitled(members, weights)
        rng.shuffle(pairs)
        slots = [(member, per_weight(weight)) for member, weight in pairs]
        turns = round_of(slots, [weight for _, weight in pairs])
        self._size = len(turns)
        self._look = min(LOOK, len(pairs))
        self._turns = turns + turns[: self._look]  # each window is a slice of it
        self._next = count(rng.randrange(self._size)).__next__

    def pick(self) -> N:
        """The next one that is likely to be done as early as any."""
        start = self._next() % self._size
        turns = self._turns[start : start + self._look]
        shortest = inf
        for one, per in turns:
            wait = (one.cost or UNKNOWN) * (1 + one.inflight * per)
            if wait < shortest:
                shortest, best = wait, one
        limit = ALIKE * shortest
        for one, per in turns:  # mostly the first one
            if (one.cost or UNKNOWN) * (1 + one.inflight * per) <= limit:
                return one
        return best  # counts moved while we looked
