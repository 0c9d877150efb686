"""Autoscaling policies on traffic."""

from __future__ import annotations

from dataclasses import replace

import pytest

from steelyard.errors import UsageError
from steelyard.lab.arrivals import arrivals
from steelyard.lab.contest import compete, contestants
from steelyard.lab.scaling import Scaling, run
from steelyard.lab.shapes import SHAPES, shape
from steelyard.lab.site import Site
from steelyard.lab.trace import Trace
from tests.lab.watch import Counting

SITE = Site()
JUMP = Trace("jump", [0, 60, 240, 360], [300, 3600, 600])  # 1, then 4, then 1 busy workers

RISE = Trace("rise", [0, 60, 120, 180, 240, 300], [300, 500, 700, 900, 1100])


@pytest.fixture(scope="module")
def file(tmp_path_factory):
    path = tmp_path_factory.mktemp("traces") / "jump.csv"
    path.write_text("0,300\n60,1200\n120,1200\n180,300\n", encoding="utf-8")
    return path


@pytest.fixture(scope="module")
def told(file):
    watcher = Counting()
    report = run(Scaling(trace=file, scale=1.0, bars=True, whole=False, runs=2), watcher)
    assert watcher.done == watcher.planned == 2 * 7
    return report


def outcome(name: str, *, whole: bool = False, trace: Trace = JUMP, seed: int = 1):
    return compete(trace, SITE, name, contestants(60.0)[name], whole=whole, seed=seed)


def test_every_policy_is_told_of(told):
    """All policies get the same requests, and costs are relative to the oracle's."""
    rows = {row[1]: dict(zip(told.table("policies").columns, row, strict=True))
            for row in told.table("policies").rows}  # fmt: skip
    assert list(rows) == list(contestants(60.0))
    assert told.requests == pytest.approx(2 * 7 * 3000, rel=0.05)
    assert rows["oracle"]["over the oracle's"] == 1.0
    assert rows["oracle"]["by waiting %"] == 0.0
    assert rows["target"]["± 95 %"] > 0.0
    assert rows["fixed"]["speed-up"] == 1.0
    assert rows["fixed"]["actions/h"] == 0.0
    assert rows["target"]["failed or late %"] <= rows["hpa"]["failed or late %"]
    assert told.name == "scaling-jump"
    assert [bar.met for bar in told.bars] == [True, True]


def test_runs_are_taken_together():
    """Requests, workers and time of runs add up, and the spread is over runs."""
    first, second = outcome("target", seed=1), outcome("target", seed=2)
    both = first + second
    assert both.tally.came == first.tally.came + second.tally.came
    assert both.workers == pytest.approx((first.workers + second.workers) / 2)
    assert both.shares == [first.tally.bad, second.tally.bad]
    assert both.fit.ticks == 2 * first.fit.ticks


def test_a_series_for_the_figure(told):
    """The series has needed and ready workers from the beginning to the end."""
    series = told.table("series")
    assert series.columns == ("traffic", "seconds", "needed", *contestants(60.0))
    assert (series.rows[0][1], series.rows[-1][1]) == (2.0, 240.0)


def test_the_shipped_fleet_scales():
    """The fleet scales up when the load jumps, and down when it is over."""
    one = outcome("target", whole=True)
    ready = [count for _, _, count in one.series]
    assert max(ready) >= 6
    assert one.actions >= 2
    assert one.tally.bad < 0.2


@pytest.mark.parametrize(
    ("name", "trace"),
    [("step", JUMP), ("hpa", JUMP), ("hpa", RISE), ("target", JUMP), ("predictive", RISE)],
)
def test_the_outline_is_close_to_the_fleet(name, trace):
    """Bad requests agree within two percentage points, and workers within a tenth."""
    whole, outline = outcome(name, whole=True, trace=trace), outcome(name, trace=trace)
    assert outline.tally.came == whole.tally.came
    assert outline.tally.bad == pytest.approx(whole.tally.bad, abs=0.02)
    assert outline.worker_seconds == pytest.approx(whole.worker_seconds, rel=0.1)


def test_the_same_seed_gives_the_same_run():
    """The same seed gives the same run, and another seed another one."""
    one, again, other = (outcome("predictive", seed=seed) for seed in (1, 1, 2))
    assert (one.tally, one.worker_seconds) == (again.tally, again.worker_seconds)
    assert one.tally.came != other.tally.came


def test_requests_come_as_counted():
    """Requests come in order, within their tick, and about as many as the trace says."""
    ticks = list(arrivals(JUMP, 2.0, 0.2, 0.5, seed=1))
    assert [end for end, _ in ticks] == [2.0 * (tick + 1) for tick in range(180)]
    for end, came in ticks:
        assert all(end - 2.0 <= time <= end for time, _ in came)
        assert came == sorted(came)
    busy = sum(len(came) for end, came in ticks if 60 < end <= 240)
    assert busy == pytest.approx(3600, rel=0.05)
    works = [work for _, came in ticks for _, work in came]
    assert sum(works) / len(works) == pytest.approx(0.2, rel=0.05)


@pytest.mark.parametrize("name", SHAPES)
def test_shapes_reach_their_peak(name):
    """A shape reaches its peak, and never exceeds it."""
    made = shape(name, 100.0)
    assert made.seconds == 3600
    assert 70 <= made.peak <= 100.0001


@pytest.mark.parametrize(("low", "high", "problem"), [(0, 5, "no workers"), (5, 2, "more than")])
def test_limits_that_cannot_be(file, low, high, problem):
    """Impossible limits are refused before anything is run."""
    with pytest.raises(UsageError, match=problem):
        run(Scaling(trace=file, site=replace(SITE, min=low, max=high)), Counting())
