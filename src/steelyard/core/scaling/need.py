"""Need: how many workers the load needs, if each worker carries its target.

Each metric has a target per worker, and gives a need of its own; the greatest need counts.
Kubernetes' HPA does the same with `ceil(n · metric / target)`.

* Utilization: the need is the sum of all U divided by the target. This fails when the workers are
  saturated: U ends at 100 %, so a target of 60 can never ask for more than 5/3 of the workers there
  are. So from `SATURATED` on the need is multiplied by the requests that arrived over the requests
  that were answered, which says how much more work there is.
  Random arrivals need spare workers, too, and a small fleet needs relatively more of them: the
  number of requests deviates by its square root, so a load of R needs R + β·√R workers for the
  same service at any size (square-root staffing: Halfin and Whitt 1981, "Heavy-traffic limits for
  queues with many exponential servers"). `spare` is β; with 1.5 one request in twelve finds every
  worker busy. So `spare` decides the size of a small fleet, and the target that of a large one.
* In flight: the need is the number of open exchanges and waiting requests divided by the target.
* Wait: the need is the longest wait divided by the target, times the number of workers. No wait
  means that there are enough workers, not that fewer would be enough; so this metric is only used
  together with another.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator
from dataclasses import dataclass, field
from math import sqrt
from statistics import fmean
from typing import NamedTuple

from steelyard.core.scaling.base import View

SATURATED = 90.0  # mean utilization from which on it no longer shows the whole load
# The largest factor by which a moment may multiply the need: if answers take minutes, the ratio of
# arrivals to answers or of wait to target may be in the hundreds.
MOST = 4.0


@dataclass(frozen=True, slots=True)
class Targets:
    """What one worker is meant to carry.

    A metric whose target is None is not used. `utilization` or `in_flight` must have a target.
    """

    utilization: float | None = 80.0  # percent
    in_flight: float | None = None
    wait: float | None = None  # seconds
    spare: float = 1.5  # β of the module's docstring


class Need(NamedTuple):
    """The number of workers that the load needs, and the metric that says so."""

    workers: float
    why: str


class Moment(NamedTuple):
    """The need at one tick, and the counts to compare later ticks with."""

    at: float
    need: Need
    completed: int
    open: int


@dataclass(slots=True)
class Needs:
    """The needs of the last `memory` seconds."""

    targets: Targets
    memory: float  # seconds
    surge_over: float  # seconds over which arrivals are compared with answers
    moments: deque[Moment] = field(default_factory=deque)

    def observe(self, view: View) -> None:
        """Note the need of this moment, if a worker serves: otherwise nothing is measured."""
        if not view.utilization:
            return
        need = max(self._by_metric(view), key=lambda need: need.workers)
        self.moments.append(Moment(view.now, need, view.completed, view.open))
        while self.moments[0].at < view.now - self.memory:
            self.moments.popleft()

    @property
    def known(self) -> bool:
        return bool(self.moments)

    def mean(self, seconds: float) -> Need:
        """The mean need of the last `seconds`, with the metric of the newest moment."""
        newest = self.moments[-1]
        lately = [one.need.workers for one in self.since(newest.at - seconds)]
        return Need(fmean(lately), newest.need.why)

    def since(self, start: float) -> Iterator[Moment]:
        """The moments after `start`, the newest first."""
        for moment in reversed(self.moments):
            if moment.at <= start:
                return
            yield moment

    def _by_metric(self, view: View) -> Iterator[Need]:
        ready = len(view.utilization)
        if self.targets.utilization is not None:
            surge = self._surge(view) if view.mean >= SATURATED else 1.0
            stretched = (
                f", × {surge:.1f} as more requests arrived than were answered" if surge > 1 else ""
            )
            load = ready * view.mean * surge / 100
            yield Need(
                max(load * 100 / self.targets.utilization, load + self.targets.spare * sqrt(load)),
                f"mean U {view.mean:.0f} of {_workers(ready)}{stretched}, target {self._carry}",
            )
        if self.targets.in_flight is not None:
            yield Need(
                view.open / self.targets.in_flight,
                f"{view.open} requests open for {_workers(ready)}, "
                f"target {self.targets.in_flight:g} each",
            )
        if self.targets.wait is not None and view.wait > self.targets.wait:
            yield Need(
                ready * min(MOST, view.wait / self.targets.wait),
                f"longest wait {view.wait:.2f} s, target {self.targets.wait:g} s",
            )

    @property
    def _carry(self) -> str:
        spare = f" and at least {self.targets.spare:g}·√load spare" if self.targets.spare else ""
        return f"U {self.targets.utilization:g}{spare}"

    def _surge(self, view: View) -> float:
        """Requests that arrived over requests that were answered, in the last `surge_over` seconds.

        The ratio is 1 if it is unknown, or if no more requests arrived than were answered.
        """
        lately = list(self.since(view.now - self.surge_over))
        if not lately:
            return 1.0
        answered = view.completed - lately[-1].completed
        more = view.open - lately[-1].open
        return min(MOST, 1.0 + more / answered) if answered > 0 and more > 0 else 1.0


def _workers(count: int) -> str:
    return "1 worker" if count == 1 else f"{count} workers"
