"""Shortest wait: take the member whose line, at the pace it was seen to have, ends first.

Least in flight treats a member that is twenty times slower like the others and lets one request in
every n wait for it: with service rates of 100 : 50 : 25 : 5 those are the slowest percents. Here
the pace is learned, so that weights need not tell it.
"""

from __future__ import annotations

import random
from collections.abc import Sequence
from itertools import count
from typing import Generic

from steelyard.select.base import N, entitled, per_weight

LOOK = 8  # members looked at per pick: all of a small fleet, and O(1) in a large one
UNKNOWN = 1e-9  # seconds; only when nobody's pace is known does it matter


class Pace:
    """Seconds that a member needs per request in its line, from its response times.

    A response time divided by the length of the line that the request joined: for one server that
    is the service time, for one that works on many at once the share of it.

    >>> pace = Pace()
    >>> pace.observe(0.5, line=5)
    >>> pace.value
    0.1
    """

    __slots__ = ("seen", "value")

    WEIGHT = 0.1  # of the newest observation

    def __init__(self, value: float = 0.0) -> None:
        self.value = value  # 0: nothing is known
        self.seen = False  # since the last `fade`

    def observe(self, seconds: float, line: int) -> None:
        """A request took so long, having joined a line of so many, itself included."""
        each = seconds / line
        self.value = self.value + self.WEIGHT * (each - self.value) if self.value else each
        self.seen = True

    def fade(self, factor: float) -> None:
        """Forget a little of a pace that nobody tests, or a slow member would be slow for ever."""
        if not self.seen:
            self.value *= factor
        self.seen = False


class ShortestWait(Generic[N]):
    """Picks the member with the smallest `cost · (inflight + 1)` per weight, `cost` being its pace.

    A weight of 1/2 makes a member look half as fast as it is.

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
        return min(self._twice[start : start + self._look], key=_wait)[0]


def _wait(slot: tuple[N, float]) -> float:
    member, per = slot
    return (member.cost or UNKNOWN) * (member.inflight + 1) * per
