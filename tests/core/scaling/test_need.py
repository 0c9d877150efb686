"""How many workers the load is worth."""

from __future__ import annotations

import pytest

from steelyard.core.scaling.base import View
from steelyard.core.scaling.need import Needs, Targets


def view(now: float, load: list[float], **more) -> View:
    utilization = {f"w{i}": u for i, u in enumerate(load)}
    return View(
        now=now, workers=len(load), booting=0, min=1, max=9, utilization=utilization, **more
    )


def need(targets: Targets, *views: View):
    needs = Needs(targets, memory=60, surge_over=6)
    for one in views:
        needs.observe(one)
    return needs.moments[-1].need


@pytest.mark.parametrize(
    ("targets", "seen", "workers", "why"),
    [
        (Targets(60, spare=0), {"load": [60, 60]}, 2, "U 60 of 2, target 60"),
        (Targets(60, spare=0), {"load": [30, 30, 30, 30]}, 2, "U 30 of 4, target 60"),
        (Targets(60, spare=0), {"load": [0, 0]}, 0, "U 0 of 2, target 60"),
        (Targets(None, 4), {"load": [9, 9], "open": 20}, 5, "20 in flight at 2, target 4 each"),
        (Targets(60, 4, spare=0), {"load": [60, 60], "open": 4}, 2, "U 60 of 2, target 60"),
        (
            Targets(60, 4, spare=0),
            {"load": [60, 60], "open": 12},
            3,
            "12 in flight at 2, target 4 each",
        ),
        (
            Targets(60, None, 0.5, spare=0),
            {"load": [9], "wait": 1.0},
            2,
            "wait 1.00 s, target 0.5 s",
        ),
        (
            Targets(60, None, 0.5, spare=0),
            {"load": [9], "wait": 99.0},
            4,
            "wait 99.00 s, target 0.5 s",
        ),
        (Targets(60, None, 0.5, spare=0), {"load": [60], "wait": 0.4}, 1, "U 60 of 1, target 60"),
    ],
)
def test_the_greatest_need_counts(targets, seen, workers, why):
    """Each metric over its target; a wait within its target asks for nothing."""
    load = seen.pop("load")
    told = need(targets, view(0, load, **seen))
    assert (told.workers, told.why) == (pytest.approx(workers), why)


@pytest.mark.parametrize(
    ("load", "workers"),
    [([50, 50], 2.5), ([50] * 8, 7), ([50] * 32, 22), ([80] * 80, 80), ([0], 0)],
)
def test_a_small_fleet_has_spare_workers(load, workers):
    """By the square root of its load; in a large one the target's own share is more than that."""
    told = need(Targets(80, spare=1.5), view(0, load))
    assert told.workers == pytest.approx(workers)
    assert told.why.endswith("target 80 with 1.5·√load spare")


def test_utilization_is_stretched_where_it_ends():
    """At 100 % twice as much came as was answered: twice the workers are needed, and more."""
    busy = [view(0, [100, 100], completed=100, open=4), view(4, [100, 100], completed=120, open=24)]
    assert need(Targets(50, spare=0), *busy).workers == pytest.approx(8)
    assert "× 2.0" in need(Targets(50, spare=0), *busy).why


def test_utilization_that_still_tells_is_not_stretched():
    """Long polls open by the dozen are no load."""
    calm = [view(0, [50, 50], completed=100, open=4), view(4, [50, 50], completed=101, open=90)]
    assert need(Targets(50, spare=0), *calm).workers == pytest.approx(2)


def test_a_fleet_that_answers_nothing_is_not_stretched_without_end():
    """No answer at all tells nothing, and few tell little."""
    hung = [view(0, [100], completed=5, open=0), view(4, [100], completed=5, open=500)]
    slow = [view(0, [100], completed=5, open=0), view(4, [100], completed=6, open=500)]
    assert need(Targets(50, spare=0), *hung).workers == pytest.approx(2)
    assert need(Targets(50, spare=0), *slow).workers == pytest.approx(8)


def test_means_are_over_the_last_seconds():
    """And what is older than the memory is gone."""
    needs = Needs(Targets(50, spare=0), memory=10, surge_over=6)
    for now, load in enumerate([100, 100, 50, 0]):
        needs.observe(view(5.0 * now, [load]))
    assert needs.mean(5).workers == pytest.approx(0)
    assert needs.mean(10).workers == pytest.approx(0.5)
    assert [moment.at for moment in needs.moments] == [5, 10, 15]


def test_nothing_is_known_while_nobody_serves():
    """A moment without a measurement is no moment without load."""
    needs = Needs(Targets(50, spare=0), memory=10, surge_over=6)
    needs.observe(view(0, []))
    assert not needs.known
