"""The number of workers stays within its limits as it is."""

from __future__ import annotations

from dataclasses import dataclass

from steelyard.core.scaling.base import Verdict, View


@dataclass(slots=True)
class Fixed:
    """Never changes anything."""

    name: str = "fixed"
    spares_busy: bool = True

    def decide(self, view: View) -> Verdict:
        return Verdict(0, f"steady: policy fixed keeps {view.workers}")
