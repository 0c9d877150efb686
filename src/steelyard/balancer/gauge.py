"""Gauge: keeps a tally's cost, for the policies that ask for it.

Only answers that were meant as such count: a worker that fails fast would look like a fast one,
and draw every request to itself.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import TypeAlias

from steelyard.balancer.counters import Tally
from steelyard.select import fade, pace, peak

FAULT = 500  # statuses from this on are no measure of speed

Gauge: TypeAlias = Callable[[Tally, float, int, float], None]


def by_pace(tally: Tally, seconds: float, line: int, now: float) -> None:
    """Seconds per request in line; the first observation replaces what was assumed."""
    tally.cost = pace(tally.cost if tally.seen else 0.0, seconds, line)
    tally.seen = now


def by_peak(tally: Tally, seconds: float, line: int, now: float) -> None:
    """Seconds per request, peaks first."""
    tally.cost = peak(tally.cost, seconds, now - tally.seen) if tally.seen else seconds
    tally.seen = now


GAUGES: dict[str, Gauge] = {"shortest_wait": by_pace, "peak_ewma": by_peak}


def assume(tallies: Iterable[Tally]) -> None:
    """Take those that nobody has measured for average.

    As long as nothing is known of a worker, it must look neither fast, or it would get everything
    before its first answer, nor slow, or it would never be measured.
    """
    tallies = list(tallies)
    known = [tally.cost for tally in tallies if tally.cost]
    for tally in tallies:
        if known and not tally.cost:
            tally.cost = sum(known) / len(known)


def forget(tallies: Iterable[Tally], since: float, now: float) -> None:
    """Fade the costs that were not measured since then.

    Called by the control thread: an observation that comes in between may be lost, and the next
    one makes up for it.
    """
    for tally in tallies:
        if tally.seen < since:
            tally.cost = fade(tally.cost, now - since)
