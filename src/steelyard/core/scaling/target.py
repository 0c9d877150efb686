"""Target tracking, as Kubernetes' HPA and Knative do it: each worker carries what it is meant to.

Workers needed are the mean over a window, rounded up; a number that is off by no more than the
tolerance stays. On the way down the greatest need of the stabilisation window counts (HPA), so
that a lull does not cost workers that are wanted again a minute later. On the way up a short window
looks for panic (Knative): a need of far more than what serves is met at once, and until there has
been none for a whole window nobody is retired.

Any worker that is not a default one may be retired, busy or not (docs/decisions/0021).
"""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass, field
from math import ceil
from typing import NamedTuple

from steelyard.core.scaling.base import Verdict, View, held
from steelyard.core.scaling.need import Need, Needs, Targets

SLIP = 1e-9  # 3.0000000001 workers are 3


@dataclass(frozen=True, slots=True)
class Tracking:
    """How a target is followed; times in seconds, shares in percent."""

    targets: Targets = field(default_factory=Targets)
    tolerance: float = 10.0
    window: float = 30.0
    stabilization: float = 120.0
    panic_window: float = 6.0
    panic: float = 150.0  # of what serves


class Wanted(NamedTuple):
    """So many workers; of several the greatest counts."""

    workers: int
    why: str


@dataclass(slots=True)
class TargetPolicy:
    """Remembers what was needed, and what was wanted."""

    tracking: Tracking = field(default_factory=Tracking)
    name: str = "target"
    spares_busy: bool = False
    memory: float = 0.0  # seconds of need that are kept, when more than this policy asks for
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
        """What the window, and a panic, ask for."""
        tracking = self.tracking
        return [
            self.rounded(self.needs.mean(tracking.window), view, f"over {tracking.window:g} s"),
            *self._panic(view),
        ]

    def rounded(self, need: Need, view: View, when: str) -> Wanted:
        """Whole workers; as many as there are when the need is about that."""
        close = abs(need.workers - view.workers) <= view.workers * self.tracking.tolerance / 100
        count = view.workers if close else ceil(need.workers - SLIP)
        return Wanted(count, f"need {need.workers:.1f} {when} ({need.why})")

    def settle(self, view: View, *wishes: Wanted) -> Verdict:
        """The greatest wish, unless others of late were greater still."""
        wish = max(wishes)
        count = max(view.min, min(wish.workers, view.max))
        before = self._greatest_of_late(view, count)
        if wish.workers > view.workers:
            return self._grow(view, count, wish.why)
        if count < view.workers:
            return self._shrink(view, before, wish.why)
        return Verdict(0, f"steady: {wish.why}, {view.workers} workers")

    def _panic(self, view: View) -> list[Wanted]:
        tracking = self.tracking
        need = self.needs.mean(tracking.panic_window)
        if need.workers * 100 >= tracking.panic * len(view.utilization):
            self._panicked = view.now
        if self._panicked is None or view.now - self._panicked >= tracking.window:
            return []
        wanted = self.rounded(need, view, f"over {tracking.panic_window:g} s: panic")
        return [wanted, Wanted(view.workers, f"panic {view.now - self._panicked:.0f} s ago")]

    def _greatest_of_late(self, view: View, count: int) -> int:
        """A policy that begins has seen nothing yet: what it finds there was wanted until now, or
        an agent's restart would cost a busy fleet its workers."""
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
            return held(f"{count} wanted within {self.tracking.stabilization:g} s, {why}")
        change = min(view.workers - count, view.retirable)
        if change <= 0:
            return held(f"no worker may go yet, {why}")
        return Verdict(-change, f"{why} → {-change:+d}")


def nothing(view: View) -> Verdict:
    """Nobody serves, so nothing is measured."""
    return held(f"nothing measured, {view.workers} workers")
