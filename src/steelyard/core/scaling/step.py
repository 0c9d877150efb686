"""The paper's rule (seed 000, 3.4), with its errors corrected.

The fleet grows by S workers, up to max, if the mean U ≥ high or any U ≥ critical. It shrinks by R
workers, down to min, if the mean U < low. Either condition must hold for a dwell time, and a
cooldown follows each action. At max the rule can still go down. No worker is added while another
boots: capacity is already on its way, and the start-up load of one worker must not be the reason
for the next (kubernetes#28692).
"""

from __future__ import annotations

from dataclasses import dataclass, field

from steelyard.core.scaling.base import Dwell, Verdict, View, held


@dataclass(frozen=True, slots=True)
class Step:
    """The thresholds of the rule; utilization in percent, times in seconds."""

    low: float = 20.0
    high: float = 60.0
    critical: float = 80.0
    up: int = 1
    down: int = 1
    cooldown: float = 5.0
    dwell_up: float = 4.0
    dwell_down: float = 30.0


@dataclass(slots=True)
class StepPolicy:
    """Remembers only how long the load has been high or low."""

    step: Step = field(default_factory=Step)
    name: str = "step"
    spares_busy: bool = True
    _high: Dwell = field(default_factory=Dwell)
    _low: Dwell = field(default_factory=Dwell)

    def decide(self, view: View) -> Verdict:
        pressure = self._pressure(view)
        slack = bool(view.utilization) and view.mean < self.step.low and not pressure
        high_for = self._high.observe(bool(pressure), view.now)
        low_for = self._low.observe(slack, view.now)
        if pressure:
            return self._grow(view, f"{pressure}, high for {high_for:.0f} s", high_for)
        if slack:
            return self._shrink(view, low_for)
        return Verdict(0, f"steady: mean U {view.mean:.0f} of {view.workers} workers")

    def _pressure(self, view: View) -> str:
        """Why there should be more workers; empty when there is no reason."""
        if not view.utilization:
            return ""
        worst = max(view.utilization, key=lambda name: view.utilization[name])
        if view.mean >= self.step.high:
            return f"mean U {view.mean:.0f} ≥ {self.step.high:g}"
        if view.utilization[worst] >= self.step.critical:
            return f"U {view.utilization[worst]:.0f} of {worst} ≥ {self.step.critical:g}"
        return ""

    def _grow(self, view: View, cause: str, high_for: float) -> Verdict:
        change = min(self.step.up, view.max - view.workers)
        if change <= 0:
            return held(f"at max {view.max}, {cause}")
        if view.booting:
            return held(f"{view.booting} booting, {cause}")
        return self._unless_early(view, change, cause, high_for, self.step.dwell_up)

    def _shrink(self, view: View, low_for: float) -> Verdict:
        cause = f"mean U {view.mean:.0f} < {self.step.low:g} for {low_for:.0f} s"
        change = min(self.step.down, view.workers - view.min)
        if change <= 0:
            return Verdict(0, f"steady: at min {view.min}, mean U {view.mean:.0f}")
        if view.retirable == 0:
            return held(f"no worker may be retired yet, {cause}")
        change = min(change, view.retirable)
        return self._unless_early(view, -change, cause, low_for, self.step.dwell_down)

    def _unless_early(
        self, view: View, change: int, cause: str, lasted: float, dwell: float
    ) -> Verdict:
        if lasted < dwell:
            return held(f"{cause} of {dwell:g} s")
        left = self._cooldown_left(view)
        if left > 0:
            return held(f"cooldown {left:.1f} s left, {cause}")
        return Verdict(change, f"{cause} → {change:+d}")

    def _cooldown_left(self, view: View) -> float:
        if view.last_action is None:
            return 0.0
        return view.last_action + self.step.cooldown - view.now
