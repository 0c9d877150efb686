"""Need: how many workers the load is worth, at what a worker is meant to carry.

Each metric has a target per worker, and tells a need of its own (Kubernetes' HPA has
`ceil(n · metric / target)`, and of several metrics the greatest counts):

* utilization: the sum of all U over the target. It ends where workers are saturated: at 100 % a
  target of 60 can never ask for more than 5/3 of the workers there are. So from `SATURATED` on it
  is stretched by what came over what was answered, which says how much more there is to do.
  Chance needs room, too, and the smaller the fleet, the greater the share of it: requests come in
  numbers that deviate by their square root, so a load of R needs R + β·√R workers for the same
  service at any size (square-root staffing: Halfin and Whitt 1981, "Heavy-traffic limits for queues
  with many exponential servers"). `spare` is β; with 1.5 one request in twelve finds every worker
  busy. So a small fleet is sized by `spare`, and a large one by the target;
* in flight: open exchanges, and those in the waiting line, over the target;
* wait: the longest wait over the target, times the workers there are. No wait says that there are
  enough workers, not that fewer would do; so this one never stands alone.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator
from dataclasses import dataclass, field
from math import sqrt
from statistics import fmean
from typing import NamedTuple

from steelyard.core.scaling.base import View

SATURATED = 90.0  # mean utilization from which on it tells too little
MOST = 4.0  # an answer that takes minutes must not make one moment count for a hundred


@dataclass(frozen=True, slots=True)
class Targets:
    """What one worker is meant to carry; None: the metric does not count. One of the first two
    must."""

    utilization: float | None = 80.0  # percent
    in_flight: float | None = None
    wait: float | None = None  # seconds
    spare: float = 1.5  # times the square root of the load; see the module


class Need(NamedTuple):
    """So many workers, and by which metric; the greatest of several is the one that counts."""

    workers: float
    why: str


class Moment(NamedTuple):
    """One tick."""

    at: float
    need: Need
    completed: int
    open: int


@dataclass(slots=True)
class Needs:
    """What was needed lately."""

    targets: Targets
    memory: float  # seconds
    surge_over: float  # seconds over which arrivals are compared with answers
    moments: deque[Moment] = field(default_factory=deque)

    def observe(self, view: View) -> None:
        """Note this moment; without a worker that serves there is nothing to measure."""
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
        """The mean of the last seconds, with the newest moment's metric."""
        newest = self.moments[-1]
        lately = [one.need.workers for one in self.since(newest.at - seconds)]
        return Need(fmean(lately), newest.need.why)

    def since(self, start: float) -> Iterator[Moment]:
        """The newest first."""
        for moment in reversed(self.moments):
            if moment.at <= start:
                return
            yield moment

    def _by_metric(self, view: View) -> Iterator[Need]:
        ready = len(view.utilization)
        if self.targets.utilization is not None:
            surge = self._surge(view) if view.mean >= SATURATED else 1.0
            stretched = f" × {surge:.1f} for what came over what was answered" if surge > 1 else ""
            load = ready * view.mean * surge / 100
            yield Need(
                max(load * 100 / self.targets.utilization, load + self.targets.spare * sqrt(load)),
                f"U {view.mean:.0f}{stretched} of {ready}, target {self._carry}",
            )
        if self.targets.in_flight is not None:
            yield Need(
                view.open / self.targets.in_flight,
                f"{view.open} in flight at {ready}, target {self.targets.in_flight:g} each",
            )
        if self.targets.wait is not None and view.wait > self.targets.wait:
            yield Need(
                ready * min(MOST, view.wait / self.targets.wait),
                f"wait {view.wait:.2f} s, target {self.targets.wait:g} s",
            )

    @property
    def _carry(self) -> str:
        spare = f" with {self.targets.spare:g}·√load spare" if self.targets.spare else ""
        return f"{self.targets.utilization:g}{spare}"

    def _surge(self, view: View) -> float:
        """What came over what was answered, of late; 1 where that cannot be told."""
        lately = list(self.since(view.now - self.surge_over))
        if not lately:
            return 1.0
        answered = view.completed - lately[-1].completed
        more = view.open - lately[-1].open
        return min(MOST, 1.0 + more / answered) if answered > 0 and more > 0 else 1.0
