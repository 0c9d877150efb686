"""Push or pull on real processes, with a stand-in for the processes."""

from __future__ import annotations

import pytest

from steelyard.lab.mesh import Mesh
from steelyard.lab.push import Network
from steelyard.lab.real import PULL, PUSHED, SCENARIOS, Real, real_job, run
from tests.lab.watch import Counting


def simulated(job, method, window):
    """A stand-in that simulates instead of starting processes."""
    return Mesh(job, Network()).run()


def test_every_method_is_played_beside_its_simulation():
    """Every method runs the same jobs in both scenarios, beside their simulation."""
    watcher, played = Counting(), []

    def play(job, method, window):
        played.append(tuple(job.works))
        return simulated(job, method, window)

    report = run(Real(play, units=30, runs=2), watcher)
    assert len(set(played)) == 2  # jobs, the same for all methods
    assert watcher.done == watcher.planned == 2 * len(report.table("jobs").rows)
    assert [row[:2] for row in report.table("jobs").rows] == [
        (scenario, method) for scenario in SCENARIOS for method in (*PUSHED, PULL)
    ]
    pulled = dict(zip(report.table("jobs").columns, report.table("jobs").rows[4], strict=True))
    assert pulled["makespan / ideal"] == pytest.approx(pulled["simulated"], rel=0.01)
    assert [bar.met for bar in report.bars] == [True]


def test_a_unit_that_is_missing_is_no_success():
    """The goal is about all real jobs, not about their simulations."""
    played = []

    def losing(job, method, window):
        told = simulated(job, method, window)
        played.append(method)
        told.delivered -= played.count(PULL) == 3
        return told

    assert [bar.met for bar in run(Real(losing, units=10), Counting()).bars] == [False]


def test_the_job_is_that_of_the_comparison_in_small():
    """Nodes are unequal, units have the given mean length, and a node dies within the job."""
    job = real_job(Real(simulated, units=2000, seconds=0.1), 1)
    assert len(set(job.speeds)) > 1
    assert sum(job.works) / 2000 == pytest.approx(0.1, rel=0.3)
    assert len(job.deaths) == 1
    assert max(job.deaths.values()) <= job.ideal
