"""The fixed policy."""

from __future__ import annotations

from steelyard.core.scaling.base import View
from steelyard.core.scaling.fixed import Fixed


def test_fixed_never_changes_anything():
    """The policy changes nothing even under full load, and its reason says so."""
    view = View(now=0, workers=3, booting=0, min=1, max=9, utilization={"w": 100.0})
    verdict = Fixed().decide(view)
    assert (verdict.change, verdict.reason) == (0, "steady: the fixed policy keeps 3 workers")
