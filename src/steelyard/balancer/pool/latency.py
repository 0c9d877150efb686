"""Latency: estimates how long each worker takes, for the policies that ask for it.

Picks go by `cost`; `learned` is what answers have taught. They differ while a worker has more to do
than it ever did (`Tally.enter`), and while it is left alone: then its cost fades, until it is low
enough for a try. While tries are answered no slower than the faded cost has it, that one stands,
and what was learned follows it halfway each time: slow workers, too, are quick now and then. The
first try that is slower ends that.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable
from math import inf, sqrt
from typing import TypeAlias

from steelyard.balancer.pool.counters import Tally
from steelyard.select import fade, pace, peak, trust

FAULT = 500  # an answer with a status from this on is a failure
FAILED = inf  # seconds that a failure counts for: one that fails fast is not a fast one
# Costs fade as fast as this many answers per second let them: where there are fewer, trying a slow
# worker every few seconds would be a large part of all requests.
BRISK = 20.0

SURE = 1.5  # what was learned is this close to the faded cost: no need for another try

Estimator: TypeAlias = Callable[[Tally, float, int, float], None]


def by_pace(tally: Tally, seconds: float, line: int, now: float) -> None:
    """Seconds per request in line; a failure counts only where it makes what is known worse."""
    if seconds == FAILED and not tally.learned:
        return
    guess, known = tally.cost, tally.learned
    weight = trust(tally.requests, now - tally.seen)
    if guess < known and seconds <= guess * line:
        tally.cost = pace(guess, seconds, line, weight)
        between = sqrt(guess * known)
        tally.learned = between if between > SURE * tally.cost else tally.cost
    else:
        tally.cost = tally.learned = pace(known, seconds, line, weight)
    tally.seen = now


def by_peak(tally: Tally, seconds: float, line: int, now: float) -> None:
    """Seconds per request, peaks first; the first observation replaces what was assumed."""
    if seconds == FAILED:
        return
    tally.cost = peak(tally.learned, seconds, now - tally.seen) if tally.seen else seconds
    tally.learned = tally.cost
    tally.seen = now


ESTIMATORS: dict[str, Estimator] = {"shortest_wait": by_pace, "peak_ewma": by_peak}


def assume(tallies: Iterable[Tally]) -> None:
    """Take those that nobody has measured for average.

    As long as nothing is known of a worker, it must look neither fast, or it would get everything
    before its first answer, nor slow, or it would never be measured.
    """
    tallies = list(tallies)
    known = [tally.learned for tally in tallies if tally.learned]
    for tally in tallies:
        if known and not tally.learned:
            tally.cost = tally.learned = sum(known) / len(known)


def forget(tallies: Collection[Tally], since: float, now: float, answers: int) -> None:
    """Fade the costs of who was idle since then, while the others gave so many answers.

    No lower than to the best that is known: it is a guess, and not to look better than knowledge.
    Called by the control thread: an observation that comes in between may be lost, and the next
    one makes up for it.
    """
    elapsed = min(now - since, answers / BRISK)
    best = min((tally.learned for tally in tallies if tally.learned), default=0.0)
    for tally in tallies:
        if tally.seen < since and not tally.inflight and tally.cost > best:
            tally.cost = max(best, fade(tally.cost, elapsed))
