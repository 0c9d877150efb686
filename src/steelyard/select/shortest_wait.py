"""Shortest wait: take the member whose line, at the pace it was seen to have, ends first.

Least in flight treats a member that is twenty times slower like the others and lets one request in
every n wait for it: with service rates of 100 : 50 : 25 : 5 those are the slowest percents. Here
the pace is learned, so that weights need not tell it; with true paces it is the rule of shortest
expected delay (Winston 1977; for unequal servers, Banawan and Zahorjan 1989).
"""

from __future__ import annotations

import random
from collections.abc import Sequence
from math import inf
from typing import Generic

from steelyard.select.base import N, entitled, generator, per_weight
from steelyard.select.round_robin import round_of

LOOK = 8  # turns looked at per pick: all of a small fleet, and O(1) in a large one
# Paces within this factor of each other count as equal: what is learned from a few answers is off
# by as much, and equally fast members are to share the work even when requests come one by one.
ALIKE = 1.5
GRAIN = 0.0005  # seconds; less than that is the machine's noise, and nobody waits for it
UNKNOWN = 1e-9  # seconds; only when nobody's pace is known does it matter


class ShortestWait(Generic[N]):
    """Picks, of the next turns of a weighted round robin, the one with the shortest wait:
    `cost + inflight · max(cost, least cost / weight)`, or the first that has no longer a line and
    is about as fast.

    `cost` is kept by the member with `gauges.pace`. A weight is believed as far as it makes a
    member slower than it was seen to be: those of one pace share by weight, and weights that
    follow the pace do not count twice.

    >>> from types import SimpleNamespace as Member
    >>> fast, slow = Member(inflight=3, cost=0.01), Member(inflight=0, cost=0.2)
    >>> ShortestWait([fast, slow], [1, 1], random.Random(1)).pick() is fast
    True
    """

    __slots__ = ("_at", "_look", "_size", "_turns")

    def __init__(
        self, members: Sequence[N], weights: Sequence[float], rng: random.Random | None = None
    ) -> None:
        rng = generator(rng)
        pairs = entitled(members, weights)
        rng.shuffle(pairs)
        slots = [(member, per_weight(weight)) for member, weight in pairs]
        turns = round_of(slots, [weight for _, weight in pairs])
        self._size = len(turns)
        self._look = min(LOOK, len(pairs))
        self._turns = turns + turns[: self._look]  # each window is a slice of it
        self._at = rng.randrange(self._size)  # threads may take a turn twice; none is lost by that

    def pick(self) -> N:
        """The next one that is likely to be done as early as any."""
        start = self._at % self._size
        turns = self._turns[start : start + self._look]
        least = inf
        for one, _ in turns:
            if one.cost < least:
                least = one.cost
        first = turns[0][0]
        if not first.inflight and first.cost <= ALIKE * least + GRAIN:
            self._at = start + 1
            return first  # as the rest would find out: the common case of a fleet at ease
        shortest = inf
        for one, per in turns:
            cost = one.cost or UNKNOWN
            each = least * per
            wait = cost + one.inflight * (cost if cost > each else each)
            if wait < shortest:
                shortest, best, line, pace = wait, one, one.inflight * per, cost
        limit = ALIKE * pace + GRAIN
        for one, per in turns:
            start += 1  # the turn of who is passed over is over: its neighbour is not to get it
            if one.inflight * per <= line and one.cost <= limit:
                best = one
                break
        self._at = start
        return best
