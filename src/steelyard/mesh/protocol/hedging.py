"""When a unit takes so long that another node should try it as well.

A unit is overdue when it has been out for longer than three times the median run time of its
function (measured with four workers, one of them 20 times slower: 2.05 s instead of 3.20 s; ideal
is 1.97 s). Time that the unit waits in its first node, behind others, counts as well: only nodes
with nothing else to do hedge, so a copy too many costs little.

The first node to be idle is seldom the fastest. So any node may have the second copy, as the first
may hang, and a third copy goes to one of the fastest nodes, if none of them has the unit yet (the
lab's job on 16 nodes of speeds 1 to 8: decision 22).
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Collection, Iterable
from functools import cache
from math import inf

from steelyard.mesh.protocol.nodes import Node, Nodes
from steelyard.mesh.protocol.task import Entry
from steelyard.mesh.protocol.times import Times

COPIES = 2  # copies of one unit at the same time; one of the fastest nodes may have one more
FACTOR = 3.0
SHORTEST = 0.02  # seconds; a shorter delay may be noise of the machine
ENOUGH = 3  # units that must have ended before their median counts
FAST = 1.5  # a node counts as fast if it takes at most so many times as long as the fastest

Limit = Callable[[str], float]  # for a function, the longest median time of a fast node


class Hedging:
    """Decides which units get another copy, where, and when."""

    def __init__(self, nodes: Nodes) -> None:
        self._nodes = nodes
        self._times: defaultdict[str, Times] = defaultdict(Times)

    def add(self, function: str, seconds: float, name: str) -> None:
        """Learn how long a unit of this function ran at a node. The node may be gone."""
        self._times[function].add(seconds)
        if name in self._nodes.by_name:
            self._nodes.by_name[name].times[function].add(seconds)

    def overdue(self, inflight: Iterable[Entry], node: Node, now: float) -> list[Entry]:
        """Units that this node should try as well."""
        fast = cache(self._fast)
        return [one for one in inflight if self._due(one) <= now and self._able(one, [node], fast)]

    def next(self, inflight: Iterable[Entry], nodes: Collection[Node]) -> float:
        """When the next unit will be overdue that one of these nodes may try.

        This is called after every event. So whether a node may try a unit is checked only for units
        that would be the next.
        """
        fast = cache(self._fast)
        serving = cache(lambda function: [one for one in nodes if one.serves(function)])
        quick = cache(lambda f: [one for one in serving(f) if one.pace(f) <= fast(f)])
        soonest = inf
        for one in inflight:
            able = (serving if len(one.copies) < COPIES else quick)(one.task.function)
            if able and self._due(one) < soonest and self._able(one, able, fast):
                soonest = self._due(one)
        return soonest

    def _due(self, entry: Entry) -> float:
        if not entry.task.rules.hedge or entry.tries_left < 1:
            return inf
        since = min(copy.since for copy in entry.copies.values())
        return since + self._patience(entry.task.function)

    def _patience(self, function: str) -> float:
        """Seconds after which a unit of this function is overdue."""
        times = self._times[function]
        return inf if len(times) < ENOUGH else max(SHORTEST, FACTOR * times.median)

    def _able(self, entry: Entry, nodes: Iterable[Node], fast: Limit) -> bool:
        """Whether one of these nodes may have a copy."""
        limit = inf
        if len(entry.copies) >= COPIES:
            limit = fast(entry.task.function)
            if self._is_with_the_fast(entry, limit):
                return False
        return any(_may(node, entry, limit) for node in nodes)

    def _is_with_the_fast(self, entry: Entry, limit: float) -> bool:
        holders = (self._nodes.by_name[name] for name in entry.copies)
        return any(node.pace(entry.task.function) <= limit for node in holders)

    def _fast(self, function: str) -> float:
        """The longest median time at which a node still counts as fast for this function."""
        return FAST * min(
            (one.pace(function) for one in self._nodes.serving(function)), default=inf
        )


def _may(node: Node, entry: Entry, limit: float) -> bool:
    return (
        node.name not in entry.copies
        and not entry.avoids(node.name)
        and node.serves(entry.task.function)
        and node.pace(entry.task.function) <= limit
    )
