"""The fixed policy: the number of workers stays as it is, within its limits."""

from __future__ import annotations

from dataclasses import dataclass

from steelyard.core.scaling.base import Verdict, View


@dataclass(slots=True)
class Fixed:
    """Never changes the number of workers."""

    name: str = "fixed"
    spares_busy: bool = True

    def decide(self, view: View) -> Verdict:
        return Verdict(0, f"steady: the fixed policy keeps {view.workers} workers")
