"""When a unit takes so long that another node should try it as well.

A unit is overdue when it is out for longer than three times the median that units of its function
ran (findings: 2.05 s instead of 3.20 s with one worker of four that is 20 times slower, ideal
1.97 s). Only nodes with nothing else to do hedge, so a copy too many costs little: the wait in the
first node, behind others, is not excused.
"""

from __future__ import annotations

from bisect import bisect_left, insort
from collections import defaultdict, deque
from collections.abc import Collection, Iterable
from math import inf

from steelyard.mesh.protocol.nodes import Node
from steelyard.mesh.protocol.task import Entry

COPIES = 2  # of one unit at the same time
FACTOR = 3.0
SHORTEST = 0.02  # seconds; noise of the machine is not a reason
WINDOW = 64
ENOUGH = 3  # units that say anything about their function


class Times:
    """How long units of one function ran."""

    def __init__(self) -> None:
        self._recent: deque[float] = deque()
        self._sorted: list[float] = []

    def add(self, seconds: float) -> None:
        """One more is back."""
        if len(self._recent) == WINDOW:
            del self._sorted[bisect_left(self._sorted, self._recent.popleft())]
        self._recent.append(seconds)
        insort(self._sorted, seconds)

    @property
    def patience(self) -> float:
        """Seconds after which one is overdue."""
        if len(self._sorted) < ENOUGH:
            return inf
        return max(SHORTEST, FACTOR * self._sorted[len(self._sorted) // 2])


class Hedging:
    """Which units get a second copy, where, and when."""

    def __init__(self) -> None:
        self._times: defaultdict[str, Times] = defaultdict(Times)

    def add(self, function: str, seconds: float) -> None:
        """A unit of this function ran for so long."""
        self._times[function].add(seconds)

    def overdue(self, inflight: Iterable[Entry], node: Node, now: float) -> list[Entry]:
        """Units that this node should try as well."""
        return [one for one in inflight if self._due(one) <= now and _may(node, one)]

    def next(self, inflight: Iterable[Entry], nodes: Collection[Node]) -> float:
        """When the next unit is overdue that one of these nodes may try."""
        mine = (one for one in inflight if any(_may(node, one) for node in nodes))
        return min((self._due(one) for one in mine), default=inf)

    def _due(self, entry: Entry) -> float:
        if not entry.task.rules.hedge or len(entry.copies) >= COPIES or entry.tries_left < 1:
            return inf
        since = min(copy.since for copy in entry.copies.values())
        return since + self._times[entry.task.function].patience


def _may(node: Node, entry: Entry) -> bool:
    return (
        node.name not in entry.copies
        and node.name not in entry.refusals
        and node.serves(entry.task.function)
    )
