"""Gauges: what a member costs, worked out anew with every response time.

A member keeps the number (`cost`, 0 when nothing is known) and hands it in with each observation.
Who is left alone is not measured: `fade` takes a little off such a cost from time to time, or a
member that was slow once would be slow for ever.
"""

from __future__ import annotations

from math import exp

NEWEST = 0.1  # weight of the newest observation in a pace
DECAY = 10.0  # seconds after which 1/e of a cost is left


def pace(before: float, seconds: float, line: int) -> float:
    """Seconds that a member needs per request in its line, for `ShortestWait`.

    A response time divided by the length of the line that the request joined, itself included: for
    one server that is the service time, for one that works on many at once the share of it.

    >>> pace(0.0, 0.5, line=5)
    0.1
    >>> round(pace(0.1, 0.6, line=2), 6)
    0.12
    """
    each = seconds / line
    return before + NEWEST * (each - before) if before else each


def peak(before: float, seconds: float, elapsed: float) -> float:
    """A moving average that jumps to every peak and forgets it with time, for `PeakEwma`.

    As in Finagle: a member that has become slow is left alone at once, and asked again later.
    `elapsed` is the time since the last observation.

    >>> peak(0.1, 2.0, elapsed=1.0)
    2.0
    >>> 1.7 < peak(2.0, 0.1, elapsed=1.0) < 2.0
    True
    """
    if seconds >= before:
        return seconds
    kept = exp(-elapsed / DECAY)
    return before * kept + seconds * (1 - kept)


def fade(cost: float, elapsed: float) -> float:
    """What is left of a cost that nobody has tested for so long.

    >>> round(fade(1.0, DECAY), 3)
    0.368
    """
    return cost * exp(-elapsed / DECAY)
