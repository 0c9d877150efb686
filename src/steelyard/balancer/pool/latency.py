"""Latency: estimates how long each worker takes to answer, for the policies that use latency.

A policy chooses by `cost`; `learned` is the estimate from measured answers. The two differ in two
cases. While a worker has more exchanges in flight than it ever finished, `Tally.enter` raises its
cost. While a worker is idle, its cost fades, until the cost is low enough for the policy to try the
worker again. While the answers are no slower than the faded cost predicts, the faded cost stays,
and `learned` moves halfway towards it with each answer, because slow workers, too, are fast now and
then. The first answer that is slower sets both from `learned`.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable
from math import inf, sqrt
from typing import TypeAlias

from steelyard.balancer.pool.counters import Tally
from steelyard.select import fade, pace, peak, trust

FAULT = 500  # an answer with this status or a higher one is a failure
FAILED = inf  # the seconds of a failure: a worker that fails fast is not a fast worker
# Costs fade at full speed from this many answers per second on, and with fewer answers more slowly.
# Otherwise, trying a slow worker every few seconds would be a large share of few requests.
BRISK = 20.0

SURE = 1.5  # when `learned` is within this factor of the faded cost, it takes the faded cost

Estimator: TypeAlias = Callable[[Tally, float, int, float], None]


def by_pace(tally: Tally, seconds: float, line: int, now: float) -> None:
    """Estimate the seconds per request in flight; ignore a failure if nothing is learned yet."""
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
    """Estimate the seconds per request with `peak`; the first answer replaces an assumed cost."""
    if seconds == FAILED:
        return
    tally.cost = peak(tally.learned, seconds, now - tally.seen) if tally.seen else seconds
    tally.learned = tally.cost
    tally.seen = now


ESTIMATORS: dict[str, Estimator] = {"shortest_wait": by_pace, "peak_ewma": by_peak}


def assume(tallies: Iterable[Tally]) -> None:
    """Give workers that were never measured the average cost of the others.

    An unmeasured worker must not look fast, or it would get all requests before its first answer.
    It must not look slow either, or it would never be measured.
    """
    tallies = list(tallies)
    known = [tally.learned for tally in tallies if tally.learned]
    for tally in tallies:
        if known and not tally.learned:
            tally.cost = tally.learned = sum(known) / len(known)


def forget(tallies: Collection[Tally], since: float, now: float, answers: int) -> None:
    """Fade the costs of workers that were idle since `since`, when all workers gave `answers`.

    A cost fades no lower than the lowest learned cost: a faded cost is a guess, and must not look
    better than a measurement. The control thread calls this function, so a measurement of the data
    thread at the same time may be lost; the next measurement makes up for it.
    """
    elapsed = min(now - since, answers / BRISK)
    best = min((tally.learned for tally in tallies if tally.learned), default=0.0)
    for tally in tallies:
        if tally.seen < since and not tally.inflight and tally.cost > best:
            tally.cost = max(best, fade(tally.cost, elapsed))
