"""The limits: fewest and most workers, as configured or as set at run time."""

from __future__ import annotations

from dataclasses import dataclass

from steelyard.core.record import LimitsRecord


@dataclass(slots=True)
class Limits:
    """The limits in force, and the configured ones, which show whether the first were changed."""

    min: int
    max: int
    configured: tuple[int, int]
    outdated: bool = False  # the store has limits that no longer apply

    @classmethod
    def begin(cls, configured: tuple[int, int], kept: LimitsRecord | None) -> Limits:
        """The stored limits, unless the configuration has changed since they were set."""
        if kept is None:
            return cls(*configured, configured)
        if (kept.configured_min, kept.configured_max) != configured:
            return cls(*configured, configured, outdated=True)
        return cls(kept.min, kept.max, configured)

    def set(self, low: int, high: int) -> None:
        self.min, self.max = low, high

    def clamp(self, count: int) -> int:
        """The nearest number of workers within the limits."""
        return max(self.min, min(count, self.max))

    def record(self) -> LimitsRecord:
        """The limits as the store keeps them."""
        low, high = self.configured
        return LimitsRecord(min=self.min, max=self.max, configured_min=low, configured_max=high)

    def __str__(self) -> str:
        return f"{self.min}…{self.max}"
