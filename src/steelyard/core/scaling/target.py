"""Target tracking, as Kubernetes' HPA and Knative do it: each worker carries its target.

The number of workers wanted is the mean need over a window, rounded up; it stays the same if the
need differs by no more than the tolerance. On the way down the greatest number wanted within the
stabilisation window counts (HPA), so that a lull does not cost workers that are wanted again a
minute later. On the way up a short window looks for panic (Knative): a need for far more workers
than serve now is met at once, and no worker is retired until a whole window has passed without one.

Any worker that is not a default one may be retired, busy or not (docs/decisions/0021).
"""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass, field
from math import ceil
from typing import NamedTuple

from steelyard.core.scaling.base import Verdict, View, held
from steelyard.core.scaling.need import Need, Needs, Targets

SLIP = 1e-9  # for rounding errors: a need of 3.0000000001 workers is 3


@dataclass(frozen=True, slots=True)
class Tracking:
    """The settings of target tracking; times in seconds, shares in percent."""

    targets: Targets = field(default_factory=Targets)
    tolerance: float = 10.0
    window: float = 30.0
    stabilization: float = 120.0
    panic_window: float = 6.0
    panic: float = 150.0  # a need of so many percent of the serving workers is a panic


class Wanted(NamedTuple):
    """A number of workers and its reason; the greatest of several counts."""

    workers: int
    why: str


@dataclass(slots=True)
class TargetPolicy:
    """Remembers how many workers were needed, and how many it wanted."""

    tracking: Tracking = field(default_factory=Tracking)
    name: str = "target"
    spares_busy: bool = False
    memory: float = 0.0  # seconds for which needs are kept, if longer than both windows
    needs: Needs = field(init=False)
    _wanted: deque[tuple[float, int]] = field(default_factory=deque)
    _panicked: float | None = None

    def __post_init__(self) -> None:
        tracking = self.tracking
        memory = max(self.memory, tracking.window, tracking.panic_window)
        self.needs = Needs(tracking.targets, memory, tracking.panic_window)

    def decide(self, view: View) -> Verdict:
        self.needs.observe(view)
        return self.settle(view, *self.wanted(view)) if self.needs.known else nothing(view)

    def wanted(self, view: View) -> list[Wanted]:
        """The numbers of workers wanted by the mean over the window, and by a panic."""
        tracking = self.tracking
        return [
            self.rounded(self.needs.mean(tracking.window), view, f"over {tracking.window:g} s"),
            *self._panic(view),
        ]

    def rounded(self, need: Need, view: View, when: str) -> Wanted:
        """The need as whole workers; the present number if the need is within the tolerance."""
        close = abs(need.workers - view.workers) <= view.workers * self.tracking.tolerance / 100
        count = view.workers if close else ceil(need.workers - SLIP)
        return Wanted(count, f"{need.workers:.1f} workers needed {when} ({need.why})")

    def settle(self, view: View, *wishes: Wanted) -> Verdict:
        """The verdict for the greatest wish; on the way down recent greater wishes count, too."""
        wish = max(wishes)
        count = max(view.min, min(wish.workers, view.max))
        before = self._greatest_of_late(view, count)
        if wish.workers > view.workers:
            return self._grow(view, count, wish.why)
        if count < view.workers:
            return self._shrink(view, before, wish.why)
        return Verdict(0, f"steady with {view.workers} workers: {wish.why}")

    def _panic(self, view: View) -> list[Wanted]:
        tracking = self.tracking
        need = self.needs.mean(tracking.panic_window)
        if need.workers * 100 >= tracking.panic * len(view.utilization):
            self._panicked = view.now
        if self._panicked is None or view.now - self._panicked >= tracking.window:
            return []
        wanted = self.rounded(need, view, f"over {tracking.panic_window:g} s: panic")
        keep = f"no worker is retired, the last panic was {view.now - self._panicked:.0f} s ago"
        return [wanted, Wanted(view.workers, keep)]

    def _greatest_of_late(self, view: View, count: int) -> int:
        """The greatest number of workers wanted within the stabilisation window.

        A new policy has seen nothing yet, so it takes the workers that it finds for wanted:
        otherwise a restart of the agent would cost a busy fleet its workers.
        """
        if not self._wanted:
            self._wanted.append((view.now, view.workers))
        self._wanted.append((view.now, count))
        while self._wanted[0][0] < view.now - self.tracking.stabilization:
            self._wanted.popleft()
        return max(count for _, count in self._wanted)

    def _grow(self, view: View, count: int, why: str) -> Verdict:
        if count <= view.workers:
            return held(f"at max {view.max}, {why}")
        change = count - view.workers
        return Verdict(change, f"{why} → {change:+d}")

    def _shrink(self, view: View, count: int, why: str) -> Verdict:
        if count >= view.workers:
            lately = f"within the last {self.tracking.stabilization:g} s"
            return held(f"{count} workers were wanted {lately}, {why}")
        change = min(view.workers - count, view.retirable)
        if change <= 0:
            return held(f"no worker may be retired yet, {why}")
        return Verdict(-change, f"{why} → {-change:+d}")


def nothing(view: View) -> Verdict:
    """The verdict while no worker has served yet, so that nothing is measured."""
    return held(f"nothing is measured, as none of {view.workers} workers has served yet")
