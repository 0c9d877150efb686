"""Availability: how well a worker answers, from its response times (seed 000, 3.1).

    Effective = 0.3 · current + 0.7 · average
    base      = 100 · (Best / Effective)^1.5
    penalty   = 20 · (1 − e^−(Effective − threshold))     when Effective exceeds the threshold
    trendfix  = 10 · (older − recent) / older
    s_a       = clip(base − penalty + trendfix), smoothed

Best is the mean of the best times of a window that expires, so that one lucky answer does not
set the bar for ever. The draft leaves the dynamic threshold open: here it is the mean of the
history plus its standard deviation. A term with too few samples is 0.
"""

from __future__ import annotations

from bisect import bisect_left, insort
from collections import deque
from dataclasses import dataclass, field
from math import exp, sqrt
from statistics import fmean

from steelyard.core.usage import clip

MOST = 1e6  # the largest ratio of best to effective time; the score is clipped to 100 anyway


@dataclass(frozen=True, slots=True)
class Memory:
    """How much of the past counts towards the score."""

    history: int = 20  # response times that are averaged
    best: int = 10  # how many of the best ones are averaged
    best_age: float = 300.0  # seconds until a best time is forgotten
    smoothing: float = 0.2  # weight of the newest score


@dataclass(slots=True)
class Availability:
    """The response times of one worker, and the score they make."""

    memory: Memory
    times: deque[float] = field(init=False)
    seen: deque[tuple[float, float]] = field(default_factory=deque)  # (when, seconds)
    ranked: list[float] = field(default_factory=list)  # the same seconds, the best first
    score: float | None = None

    def __post_init__(self) -> None:
        self.times = deque(maxlen=self.memory.history)

    def add(self, seconds: float, now: float) -> float:
        """Take in the mean response time of the last interval; return the smoothed score."""
        self.times.append(seconds)
        self.seen.append((now, seconds))
        insort(self.ranked, seconds)
        while self.seen[0][0] < now - self.memory.best_age:
            _, old = self.seen.popleft()
            del self.ranked[bisect_left(self.ranked, old)]
        raw = availability(list(self.times), self._best())
        self.score = raw if self.score is None else smooth(self.score, raw, self.memory.smoothing)
        return self.score

    def _best(self) -> float:
        return fmean(self.ranked[: self.memory.best])


def availability(times: list[float], best: float) -> float:
    """The score of a history of response times, oldest first, before smoothing."""
    effective = 0.3 * times[-1] + 0.7 * fmean(times)
    # The ratio is bounded, because its power would overflow for a time of almost 0.
    base = 100.0 * min(best / effective, MOST) ** 1.5 if effective > 0 else 100.0
    return clip(base - penalty(effective, threshold(times)) + 10.0 * trend(times))


def threshold(times: list[float]) -> float:
    """Response times beyond this are unusual for the worker."""
    mean = fmean(times)
    # statistics.pstdev computes with exact fractions, and took most of the time of a tick.
    return mean + sqrt(fmean([(seconds - mean) ** 2 for seconds in times]))


def penalty(effective: float, limit: float) -> float:
    """The penalty is 0 up to the limit, then it rises towards 20."""
    return 20.0 * (1.0 - exp(limit - effective)) if effective > limit else 0.0


def trend(times: list[float]) -> float:
    """The relative gain of the newer half over the older one; 0 with fewer than two samples."""
    middle = len(times) // 2
    older, recent = times[:middle], times[middle:]
    if not older or fmean(older) <= 0:
        return 0.0
    return (fmean(older) - fmean(recent)) / fmean(older)


def smooth(old: float, new: float, weight: float) -> float:
    """Exponential moving average."""
    return weight * new + (1.0 - weight) * old
