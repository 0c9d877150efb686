"""The frontier: how few requests must wait too long for a number of worker-seconds, by theory.

It assumes that the rate of every moment is known and that the workers are there in time; only the
single requests are random. No policy knows more than that, so none can be far below. In each moment
the waiting line is that of M/G/n: a request waits with the chance of Erlang C, and then for longer
than x with e^(−2(n − load)·x/s(1 + c²)), where c is the work's standard deviation over its mean
(the exponential of M/M/n, scaled by Allen and Cunneen's factor). Requests whose own work is over
the SLO do not count. The formula is for heavy load: simulations with two spare workers have up to a
fifth fewer late requests, with one up to two fifths fewer.
"""

from __future__ import annotations

from collections import Counter
from functools import cache
from heapq import heapify, heapreplace
from math import exp, log, sqrt
from statistics import NormalDist

from steelyard.lab.site import Site
from steelyard.lab.theory import erlang_c
from steelyard.lab.trace import Trace

POINTS = 200  # points of the work's distribution
GRAIN = 0.05  # moments whose loads differ by less count as equal


class Waits:
    """For one site, the chance that a request is late because it waits."""

    def __init__(self, site: Site) -> None:
        variance = log(1 + site.spread**2)
        normal = NormalDist(log(site.service) - variance / 2, sqrt(variance))
        edges = [site.slo * point / POINTS for point in range(POINTS + 1)]
        below = [0.0, *(normal.cdf(log(edge)) for edge in edges[1:])]
        # Pairs of the time that a request may wait and the share of such requests. Requests with
        # long work, which may hardly wait, matter most, so the tail must be included.
        self._left = [
            (site.slo - (edges[point] + edges[point + 1]) / 2, below[point + 1] - below[point])
            for point in range(POINTS)
        ]
        self._decay = 2 / (site.service * (1 + site.spread**2))
        self.late = cache(self._late)

    def _late(self, load: float, workers: int) -> float:
        if workers <= load:
            return 1.0
        rate = self._decay * (workers - load)
        waits = erlang_c(load / workers, workers)
        return waits * sum(share * exp(-rate * left) for left, share in self._left)


def fewest_late(trace: Trace, site: Site, worker_seconds: float) -> float:
    """How many requests wait too long when the workers are where they help most.

    Workers are added one by one, each to the moments where it saves most. The chance falls ever
    more slowly, so the greedy choice is the best one.
    """
    waits, moments = Waits(site), _moments(trace, site)
    staff = {load: max(site.min, int(load) + 1) for load in moments}
    left = worker_seconds - sum(staff[load] * seconds for load, seconds in moments.items())

    def saved(load: float) -> float:
        """Late requests per worker-second that one more worker avoids."""
        now, then = (waits.late(load, staff[load] + more) for more in (0, 1))
        return load / site.service * (now - then)

    gains = [(-saved(load), load) for load in moments]
    heapify(gains)
    while left > 0:
        _, load = gains[0]
        left -= moments[load]
        staff[load] += 1
        heapreplace(gains, (-saved(load), load))
    return sum(load / site.service * seconds * waits.late(load, staff[load])
               for load, seconds in moments.items())  # fmt: skip


def _moments(trace: Trace, site: Site) -> Counter[float]:
    """Seconds by load, which is given in busy workers."""
    found: Counter[float] = Counter()
    for begin, end, rate in trace.intervals():
        found[max(GRAIN, round(rate * site.service / GRAIN) * GRAIN)] += end - begin  # type: ignore[assignment]
    return found
