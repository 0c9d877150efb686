"""Target tracking with a forecast: how many workers will be needed when one started now is ready.

The forecast is a straight line through the needs of the last minutes, extended by the time that
workers took to boot. It can only add workers to those that `target` wants: a wrong forecast costs a
worker for a while, never a request.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from statistics import LinearRegression, linear_regression

from steelyard.core.scaling.base import Verdict, View
from steelyard.core.scaling.need import Need
from steelyard.core.scaling.target import TargetPolicy, Tracking, Wanted, nothing

LEAST = 5  # the fewest moments for a forecast; a line through fewer points follows the noise


@dataclass(frozen=True, slots=True)
class Forecast:
    """The times of a forecast, in seconds."""

    history: float = 120.0  # how far back the line reaches
    boot: float = 10.0  # how far ahead to look until the first boot has been measured


@dataclass(slots=True)
class PredictivePolicy:
    """Decides as `TargetPolicy` does, with the need of the forecast besides."""

    tracking: Tracking = field(default_factory=Tracking)
    forecast: Forecast = field(default_factory=Forecast)
    name: str = "predictive"
    spares_busy: bool = False
    _target: TargetPolicy = field(init=False)

    def __post_init__(self) -> None:
        self._target = TargetPolicy(self.tracking, memory=self.forecast.history)

    def decide(self, view: View) -> Verdict:
        target = self._target
        target.needs.observe(view)
        if not target.needs.known:
            return nothing(view)
        return target.settle(view, *target.wanted(view), *self._ahead(view))

    def _ahead(self, view: View) -> list[Wanted]:
        """The number of workers by the forecast; none if the need falls or has few moments."""
        ahead = self.forecast.boot if view.boot is None else view.boot
        moments = list(self._target.needs.since(view.now - self.forecast.history))
        if len(moments) < LEAST:
            return []
        line = _line([m.at - view.now for m in moments], [m.need.workers for m in moments])
        if line.slope <= 0:
            return []
        why = f"forecast, the need changes by {line.slope * 60:+.1f} a minute"
        need = Need(line.intercept + line.slope * ahead, why)
        return [self._target.rounded(need, view, f"in {ahead:.0f} s")]


def _line(times: Sequence[float], needs: Sequence[float]) -> LinearRegression:
    return linear_regression(times, needs)
