"""References for `lab scaling`: other projects' rules, written from their documentation, and an
oracle that knows the trace. They run within the same fleet as our policies; only the rule differs.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable
from dataclasses import dataclass, field
from math import ceil
from statistics import fmean

from steelyard.core.scaling.base import Verdict, View

SLIP = 1e-9  # so that 3.0000000001 workers count as 3


@dataclass(slots=True)
class Hpa:
    """Kubernetes' HorizontalPodAutoscaler, with the defaults of autoscaling/v2.

    Every 15 s it wants `ceil(n · mean / target)` pods, unless the ratio is within a tolerance of
    0.1. Pods that are not ready count as idle on the way up. On the way down the greatest number of
    the last 300 s counts; on the way up the number at most doubles or grows by four in 15 s,
    whichever is more. The mean is that of the last 15 s; a metrics server would be later.
    """

    target: float = 60.0
    name: str = "hpa"
    spares_busy: bool = False
    period: float = 15.0
    tolerance: float = 0.1
    stabilization: float = 300.0
    _due: float = 0.0
    _seen: list[float] = field(default_factory=list)
    _wanted: deque[tuple[float, int]] = field(default_factory=deque)

    def decide(self, view: View) -> Verdict:
        if view.utilization:
            self._seen.append(view.mean)
        if view.now < self._due or not self._seen:
            return Verdict(0, "between two periods")
        self._due = view.now + self.period - SLIP
        mean, self._seen = fmean(self._seen), []
        wanted = max(view.min, min(self._desired(view, mean / self.target), view.max))
        return _move(view, self._stabilized(view, wanted), f"mean {mean:.0f}, {wanted} wanted")

    def _desired(self, view: View, ratio: float) -> int:
        ready = len(view.utilization)
        if ratio > 1.0:
            ready += view.booting
            ratio *= len(view.utilization) / ready
        if abs(ratio - 1.0) <= self.tolerance or (ratio < 1.0 and ready > len(view.utilization)):
            return view.workers
        return ceil(ratio * ready - SLIP)

    def _stabilized(self, view: View, wanted: int) -> int:
        if not self._wanted:  # HPA, too, begins with the number that it finds
            self._wanted.append((view.now, view.workers))
        self._wanted.append((view.now, wanted))
        while self._wanted[0][0] < view.now - self.stabilization:
            self._wanted.popleft()
        if wanted < view.workers:
            return min(view.workers, max(count for _, count in self._wanted))
        return min(wanted, max(2 * view.workers, view.workers + 4))


@dataclass(slots=True)
class Knative:
    """Knative's pod autoscaler (KPA), with its defaults and `containerConcurrency: 1`.

    It averages the requests in the system, waiting ones included, over 60 s, or over 6 s in a
    panic. A panic begins when the short mean asks for twice as many workers as are ready. In a
    panic, and for 60 s after it, the number does not shrink. Each worker is meant to have 0.7
    requests; one decision at most halves the number.
    """

    target: float = 0.7
    name: str = "knative"
    spares_busy: bool = False
    stable: float = 60.0
    short: float = 6.0
    panic: float = 2.0
    _seen: deque[tuple[float, float]] = field(default_factory=deque)
    _panicked: float | None = None

    def decide(self, view: View) -> Verdict:
        self._seen.append((view.now, _concurrency(view)))
        while self._seen[0][0] <= view.now - self.stable:
            self._seen.popleft()
        ready = max(1, len(view.utilization))
        stable, short = (
            self._wanted(view, self.stable, ready),
            self._wanted(view, self.short, ready),
        )
        if short >= self.panic * ready:
            self._panicked = view.now
        if self._panicked is not None and view.now - self._panicked < self.stable:
            return _move(view, max(view.workers, short), f"panic, {short} wanted")
        return _move(view, stable, f"{stable} wanted")

    def _wanted(self, view: View, seconds: float, ready: int) -> int:
        mean = fmean(count for at, count in self._seen if at > view.now - seconds)
        return max(ceil(mean / self.target - SLIP), ready // 2)


@dataclass(slots=True)
class Oracle:
    """Has at every moment the workers that the next `boot` seconds of the trace need, and
    no more.
    """

    plan: Callable[[float], int]  # the number of workers to have, by time
    name: str = "oracle"
    spares_busy: bool = False

    def decide(self, view: View) -> Verdict:
        return _move(view, self.plan(view.now), "as it will be needed")


def _concurrency(view: View) -> float:
    """The mean number of requests at work since the last tick, as Knative counts them, plus the
    waiting ones.
    """
    at_work = sum(view.utilization.values()) / 100
    return at_work + max(0, view.open - len(view.utilization))


def _move(view: View, wanted: int, reason: str) -> Verdict:
    change = max(view.min, min(wanted, view.max)) - view.workers
    return Verdict(max(change, -view.retirable), reason)
