"""How many workers the load needs."""

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
        (Targets(60, spare=0), {"load": [60, 60]}, 2, "mean U 60 of 2 workers, target U 60"),
        (Targets(60, spare=0), {"load": [30] * 4}, 2, "mean U 30 of 4 workers, target U 60"),
        (Targets(60, spare=0), {"load": [0, 0]}, 0, "mean U 0 of 2 workers, target U 60"),
        (
            Targets(None, 4),
            {"load": [9, 9], "open": 20},
            5,
            "20 requests open for 2 workers, target 4 each",
        ),
        (
            Targets(60, 4, spare=0),
            {"load": [60, 60], "open": 4},
            2,
            "mean U 60 of 2 workers, target U 60",
        ),
        (
            Targets(60, 4, spare=0),
            {"load": [60, 60], "open": 12},
            3,
            "12 requests open for 2 workers, target 4 each",
        ),
        (
            Targets(60, None, 0.5, spare=0),
            {"load": [9], "wait": 1.0},
            2,
            "longest wait 1.00 s, target 0.5 s",
        ),
        (
            Targets(60, None, 0.5, spare=0),
            {"load": [9], "wait": 99.0},
            4,
            "longest wait 99.00 s, target 0.5 s",
        ),
        (
            Targets(60, None, 0.5, spare=0),
            {"load": [60], "wait": 0.4},
            1,
            "mean U 60 of 1 worker, target U 60",
        ),
    ],
)
def test_the_greatest_need_counts(targets, seen, workers, why):
    """Each need is a metric over its target, and a wait within its target gives no need."""
    load = seen.pop("load")
    told = need(targets, view(0, load, **seen))
    assert (told.workers, told.why) == (pytest.approx(workers), why)


@pytest.mark.parametrize(
    ("load", "workers"),
    [([50, 50], 2.5), ([50] * 8, 7), ([50] * 32, 22), ([80] * 80, 80), ([0], 0)],
)
def test_a_small_fleet_has_spare_workers(load, workers):
    """The square root of the load decides here; in a large fleet the target leaves more room."""
    told = need(Targets(80, spare=1.5), view(0, load))
    assert told.workers == pytest.approx(workers)
    assert told.why.endswith("target U 80 and at least 1.5·√load spare")


def test_utilization_is_stretched_where_it_ends():
    """At U 100 with twice as many arrivals as answers, twice as many workers are needed as by U."""
    busy = [view(0, [100, 100], completed=100, open=4), view(4, [100, 100], completed=120, open=24)]
    assert need(Targets(50, spare=0), *busy).workers == pytest.approx(8)
    assert "× 2.0" in need(Targets(50, spare=0), *busy).why


def test_utilization_that_still_tells_is_not_stretched():
    """Dozens of open long polls are no load while utilization is below saturation."""
    calm = [view(0, [50, 50], completed=100, open=4), view(4, [50, 50], completed=101, open=90)]
    assert need(Targets(50, spare=0), *calm).workers == pytest.approx(2)


def test_a_fleet_that_answers_nothing_is_not_stretched_without_end():
    """Without any answer the need stays as it is, and with few answers its factor is bounded."""
    hung = [view(0, [100], completed=5, open=0), view(4, [100], completed=5, open=500)]
    slow = [view(0, [100], completed=5, open=0), view(4, [100], completed=6, open=500)]
    assert need(Targets(50, spare=0), *hung).workers == pytest.approx(2)
    assert need(Targets(50, spare=0), *slow).workers == pytest.approx(8)


def test_means_are_over_the_last_seconds():
    """A mean covers the last seconds, and moments older than the memory are dropped."""
    needs = Needs(Targets(50, spare=0), memory=10, surge_over=6)
    for now, load in enumerate([100, 100, 50, 0]):
        needs.observe(view(5.0 * now, [load]))
    assert needs.mean(5).workers == pytest.approx(0)
    assert needs.mean(10).workers == pytest.approx(0.5)
    assert [moment.at for moment in needs.moments] == [5, 10, 15]


def test_nothing_is_known_while_nobody_serves():
    """A moment without a serving worker is left out; it does not count as a need of 0."""
    needs = Needs(Targets(50, spare=0), memory=10, surge_over=6)
    needs.observe(view(0, []))
    assert not needs.known
