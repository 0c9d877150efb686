"""The timeline: virtual time, and the events planned on it.

Time jumps from one event to the next, so a simulated hour takes as long as its events do. Events of
the same moment happen in the order in which they were planned: the same seed gives the same run.
"""

from __future__ import annotations

from collections.abc import Callable
from heapq import heappop, heappush
from itertools import count
from math import inf
from typing import Any


class Timeline:
    """Plans and runs events.

    >>> timeline, seen = Timeline(), []
    >>> timeline.at(2.0, seen.append, "late")
    >>> timeline.at(1.0, seen.append, "early")
    >>> timeline.run(), seen
    (2.0, ['early', 'late'])
    """

    __slots__ = ("_events", "_order", "now")

    def __init__(self) -> None:
        self.now = 0.0
        self._events: list[tuple[float, int, Callable[[Any], object], Any]] = []
        self._order = count().__next__

    def at(self, time: float, do: Callable[[Any], object], what: Any) -> None:
        """Plan `do(what)` for that time, which must not be in the past."""
        if time < self.now:
            raise ValueError(f"{time} is in the past: it is {self.now} now")
        heappush(self._events, (time, self._order(), do, what))

    def run(self, until: float = inf) -> float:
        """Let all events up to and including that time happen; return the time of the last one."""
        events = self._events
        while events and events[0][0] <= until:
            self.now, _, do, what = heappop(events)
            do(what)
        return self.now
