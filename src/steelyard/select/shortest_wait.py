"""Shortest wait: take the member whose queue, at its measured pace, ends first.

Least in flight treats a member that is twenty times slower like the others and lets one request in
every n wait for it: with service rates of 100 : 50 : 25 : 5 these requests make up the slowest
percents. Here the pace is learned, so that weights need not reflect it; with true paces it is the
rule of shortest expected delay (Winston 1977; for unequal servers, Banawan and Zahorjan 1989).
"""

from __future__ import annotations

import random
from collections.abc import Sequence
from math import inf
from typing import Generic

from steelyard.select.base import N, entitled, generator, per_weight
from steelyard.select.round_robin import round_of

LOOK = 8  # turns looked at per pick: all of a small fleet, and O(1) in a large one
# Paces within this factor of each other count as equal: a pace learned from a few answers is off by
# as much, and equally fast members should share the work even when requests come one by one.
ALIKE = 1.5
GRAIN = 0.0005  # seconds; a shorter difference is the machine's noise
UNKNOWN = 1e-9  # seconds; this matters only if no pace is known


class ShortestWait(Generic[N]):
    """Picks, of the next turns of a weighted round robin, the one with the shortest wait: `cost +
    inflight · max(cost, least cost / weight)`; or the first turn whose queue is no longer than that
    one's and that is about as fast.

    The member keeps its `cost` up to date with `gauges.pace`. A weight counts only if it makes a
    member slower than it was measured: members of one pace share by weight, and weights that follow
    the pace do not count twice.

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
        self._turns = turns + turns[: self._look]  # so that each window is a slice
        # Two threads may take the same turn; no turn is lost by that.
        self._at = rng.randrange(self._size)

    def pick(self) -> N:
        """The next member that is likely to be done as early as any."""
        start = self._at % self._size
        turns = self._turns[start : start + self._look]
        least = inf
        for one, _ in turns:
            if one.cost < least:
                least = one.cost
        first = turns[0][0]
        if not first.inflight and first.cost <= ALIKE * least + GRAIN:
            self._at = start + 1
            return first  # a shortcut with the same result, for the common case of an idle fleet
        shortest = inf
        for one, per in turns:
            cost = one.cost or UNKNOWN
            each = least * per
            wait = cost + one.inflight * (cost if cost > each else each)
            if wait < shortest:
                shortest, best, line, pace = wait, one, one.inflight * per, cost
        limit = ALIKE * pace + GRAIN
        for one, per in turns:
            start += 1  # a turn that is passed over is used up, or its neighbour would get it
            if one.inflight * per <= line and one.cost <= limit:
                best = one
                break
        self._at = start
        return best
