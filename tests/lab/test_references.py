"""The rules of other projects, compared with their documentation."""

from __future__ import annotations

import pytest

from steelyard.core.scaling.base import View
from steelyard.lab.references import Hpa, Knative, Oracle


def view(now: float, load: float, ready: int, booting: int = 0, **more) -> View:
    utilization = {f"w{number}": load for number in range(ready)}
    return View(now=now, workers=ready + booting, booting=booting, min=1, max=100,
                utilization=utilization, retirable=ready, **more)  # fmt: skip


@pytest.mark.parametrize(
    ("load", "ready", "booting", "change"),
    [
        (90, 50, 0, +25),  # ceil(50 · 90/60) = 75
        (65, 10, 0, 0),  # within the tolerance
        (55, 10, 0, 0),
        (100, 1, 0, +1),  # 2 wanted
        (60 * 9, 1, 0, +4),  # at most four more, or twice as many
        (60 * 9, 10, 0, +10),
        (90, 10, 10, 0),  # workers that boot count as idle: 0.75, and the direction turned
        (90, 10, 2, +3),  # ceil(12 · 90/60 · 10/12) = 15
        (20, 9, 0, -6),
    ],
)
def test_hpa(load, ready, booting, change):
    """HPA wants `ceil(n · mean / target)`, with its exceptions."""
    hpa = Hpa(60, stabilization=0)
    hpa.decide(view(0, 60, ready, booting))
    assert hpa.decide(view(15, load, ready, booting)).change == change


def test_hpa_decides_every_15_s_by_the_mean():
    """HPA remembers for 300 s how many it wanted."""
    hpa = Hpa(60)
    changes = {now: hpa.decide(view(now, 60 if now < 10 else 20, 6)).change
               for now in range(2, 340, 2)}  # fmt: skip
    first = min(now for now, change in changes.items() if change)
    assert 302 <= first <= 302 + 16  # the next time that it looks
    assert changes[first] < 0
    assert sum(change != 0 for change in changes.values()) <= 3


def test_knative_averages_a_minute_and_panics_in_six_seconds():
    """A need of twice the ready workers within 6 s is met at once, and nothing shrinks for a
    minute.
    """
    knative = Knative()
    for now in range(0, 60, 2):
        assert knative.decide(view(now, 70, 4, open=4)).change == 0
    burst = [knative.decide(view(now, 100, 4, open=30)).change for now in (60, 62, 64)]
    assert burst[-1] == 43 - 4  # 30 / 0.7
    calm = {now: knative.decide(view(now, 1, 40, open=0)).change for now in range(66, 140, 2)}
    first = min(now for now, change in calm.items() if change < 0)
    assert 124 <= first <= 130
    assert calm[first] == -20  # at most half


def test_the_oracle_has_what_is_planned():
    """The oracle keeps the limits, and retires only workers that may go."""
    assert Oracle(lambda now: 7).decide(view(0, 0, 5)).change == +2
    assert Oracle(lambda now: 0).decide(view(0, 0, 5)).change == -4
