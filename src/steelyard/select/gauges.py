"""Gauges: what a request costs at a member, updated with every response time.

A member keeps the number (`cost`, 0 when nothing is known) and passes it in with each observation.
A member that gets no requests is not measured. So `fade` takes a little off its cost from time to
time, or a member that was slow once would count as slow for ever.
"""

from __future__ import annotations

from math import exp, inf

WINDOW = 4.0  # seconds over which a pace is averaged, at a member that is seen often
NEWEST = 0.03  # weight of the newest observation at a member that is seen less often
MOMENT = 0.2  # seconds; of a new member's observations within this time the first counts
BOLD = 4.0  # an observation counts as at most so many times the value before
DECAY = 5.0  # seconds after which 1/e is left of a pace that is not measured
LONGEST = 60.0  # seconds; no pace is longer

# Compiled, these are C variables, which no other module can see.
_BOLD, _NEWEST = BOLD, NEWEST

PEAK_DECAY = 10.0  # seconds after which 1/e of a peak is left


def trust(answers: int, elapsed: float) -> float:
    """The weight of an observation, after so many others and so long after the last one.

    The first observations count alike, later ones little. Observations of one moment hardly count
    for more than one: a member that stood still for two seconds answers its whole queue late, but
    it was slow once, not often.

    >>> trust(0, 9.0), trust(1, 9.0), trust(100, 9.0), trust(100, 0.04)
    (1.0, 0.5, 0.03, 0.01)
    >>> round(trust(1, 0.02), 3)
    0.1
    """
    first, later = 1 / (answers + 1), _NEWEST
    return max(min(first, elapsed / MOMENT), min(later, elapsed / WINDOW))


def pace(before: float, seconds: float, line: int, weight: float) -> float:
    """Seconds that a member needs for each request in its queue, for `ShortestWait`.

    This is the response time divided by the length of the queue that the request joined, itself
    included. For a server that works on one request at a time it is the service time, for one that
    works on many at once its share. A failure takes for ever (`inf`); like any single answer, it is
    not believed at once.

    >>> pace(0.0, 0.5, line=5, weight=1.0)
    0.1
    >>> round(pace(0.1, 0.6, line=2, weight=0.1), 6)
    0.12
    >>> round(pace(0.1, inf, line=1, weight=0.1), 6)
    0.13
    """
    each = seconds / line
    if not before:
        return each if each < inf else 0.0
    most = _BOLD * before
    return min(before + weight * (min(each, most) - before), LONGEST)


def peak(before: float, seconds: float, elapsed: float) -> float:
    """A moving average that jumps to every peak and forgets it with time, for `PeakEwma`.

    As in Finagle, a member that has become slow gets no requests at once, and some again later.
    `elapsed` is the time since the last observation.

    >>> peak(0.1, 2.0, elapsed=1.0)
    2.0
    >>> 1.7 < peak(2.0, 0.1, elapsed=1.0) < 2.0
    True
    """
    if seconds >= before:
        return seconds
    kept = exp(-elapsed / PEAK_DECAY)
    return before * kept + seconds * (1 - kept)


def fade(cost: float, elapsed: float) -> float:
    """The rest of a cost that has not been measured for so long.

    >>> round(fade(1.0, DECAY), 3)
    0.368
    """
    return cost * exp(-elapsed / DECAY)
