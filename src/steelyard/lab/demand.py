"""Demand: how many workers each moment of a trace needs, and how far off a run was.

A moment needs the fewest workers with which at most one request in a thousand waits for longer than
half the SLO, by Erlang's formula. The measures are those of the SPEC research group (Herbst et al.
2018, "Quantifying cloud performance and dependability"):

θU, θO  workers missing, or too many, relative to those needed; the mean over time, in percent
τU, τO  share of the time in which workers are missing, or too many, in percent
"""

from __future__ import annotations

from bisect import bisect_right
from dataclasses import dataclass
from functools import lru_cache
from math import exp, prod

from steelyard.lab.site import Site
from steelyard.lab.theory import erlang_c
from steelyard.lab.trace import Trace

ALLOWED = 0.001  # share of requests that may wait too long
LEAST = 0.1  # percent: a smaller measure counts as this in a speed-up


@lru_cache(maxsize=100_000)
def staff(load: float, service: float, wait: float) -> int:
    """The fewest workers for a load, which is given in busy workers."""
    workers = int(load) + 1
    while erlang_c(load / workers, workers) * exp(-(workers - load) * wait / service) > ALLOWED:
        workers += 1
    return workers


class Demand:
    """The number of workers needed, as a function of time."""

    def __init__(self, trace: Trace, site: Site) -> None:
        self._site = site
        self._ends = [end for _, end, _ in trace.intervals()]
        self._needed = [
            min(site.max, max(site.min, staff(rate * site.service, site.service, site.slo / 2)))
            for _, _, rate in trace.intervals()
        ]

    def at(self, now: float) -> int:
        """Workers needed in the tick that ends now."""
        return self._needed[min(bisect_right(self._ends, now - self._site.tick), self._last)]

    def plan(self, now: float) -> int:
        """The most workers needed until a worker that is started at the next tick would be
        ready.
        """
        ahead = now + self._site.boot + 2 * self._site.tick
        first = min(bisect_right(self._ends, now), self._last)
        last = min(bisect_right(self._ends, ahead), self._last)
        return max(self._needed[first : last + 1])

    @property
    def mean(self) -> float:
        """The mean number of workers needed, over time."""
        begins = [0.0, *self._ends]
        spans = [end - begin for begin, end in zip(begins, self._ends, strict=False)]
        total = sum(span * count for span, count in zip(spans, self._needed, strict=True))
        return total / self._ends[-1]

    @property
    def _last(self) -> int:
        return len(self._needed) - 1


@dataclass(slots=True)
class Fit:
    """How far the number of workers was off the demand in a run."""

    ticks: int = 0
    missing: float = 0.0
    excess: float = 0.0
    ticks_under: int = 0
    ticks_over: int = 0

    def note(self, ready: int, needed: int) -> None:
        """Count one tick."""
        self.ticks += 1
        if ready < needed:
            self.missing += (needed - ready) / needed
            self.ticks_under += 1
        elif ready > needed:
            self.excess += (ready - needed) / needed
            self.ticks_over += 1

    def __add__(self, other: Fit) -> Fit:
        return Fit(
            self.ticks + other.ticks, self.missing + other.missing, self.excess + other.excess,
            self.ticks_under + other.ticks_under, self.ticks_over + other.ticks_over,
        )  # fmt: skip

    @property
    def measures(self) -> tuple[float, float, float, float]:
        """θU, θO, τU and τO in percent."""
        parts = (self.missing, self.excess, self.ticks_under, self.ticks_over)
        return tuple(100 * part / self.ticks for part in parts)  # type: ignore[return-value]


def speed_up(ours: Fit, fixed: Fit) -> float:
    """Elastic speed-up: how much smaller each measure is than with `fixed`, as a geometric mean."""
    ratios = [max(LEAST, theirs) / max(LEAST, mine)
              for mine, theirs in zip(ours.measures, fixed.measures, strict=True)]  # fmt: skip
    return prod(ratios) ** (1 / len(ratios))
