"""Section 8 of the paper."""

from __future__ import annotations

import pytest

from steelyard.lab import growth, staleness
from steelyard.lab.makespan import Makespan, run
from steelyard.lab.tasks import place
from tests.lab.watch import Counting

pytestmark = pytest.mark.xdist_group("makespan")  # one run for all tests


@pytest.fixture(scope="module")
def told():
    watcher = Counting()
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(growth, "MOST_LOOKS", 10**7)  # instead of 10**8, which takes ten seconds
        report = run(Makespan(runs=3, tasks=10_000, requests=2000), watcher)
    assert watcher.done == watcher.planned > 0
    return report


def test_greedy_is_optimal_for_equal_tasks_and_random_choice_is_not(told):
    """Greedy is optimal for equal tasks, and keeps Graham's bound of 2 − 1/m for unequal ones."""
    spans = {row[:3]: row for row in told.table("tasks").rows}
    assert spans["identical", "equal", "least_in_flight"][3] == 1.0
    assert spans["identical", "equal", "weighted_random"][3] > 1.1
    assert spans["identical", "exponential", "least_in_flight"][5] <= 2 - 1 / 10
    assert min(row[3] for row in spans.values()) >= 1.0


def test_two_choices_grow_as_the_theory_says(told):
    """Shares of bins are as published, and the maximum is at most one above 1 + log log n /
    log 2.
    """
    assert all(bar.met for bar in told.bars)
    most = {row[:3]: row[3] for row in told.table("growth").rows}
    assert most[10_000, 10_000, "power_of_two"] <= 4
    assert most[10_000, 10_000, "weighted_random"] == pytest.approx(6.67, abs=0.8)
    assert most[1000, 1000, "least_in_flight"] == 1
    assert most[10_000, 10_000, "least_in_flight"] is None


def test_greedy_suffers_most_from_old_news(told):
    """Greedy is best with fresh snapshots, and worst with those of 10 s."""
    times = {row[0]: dict(zip(staleness.AGED, row[1:], strict=True))
             for row in told.table("staleness").rows}  # fmt: skip
    fresh, old = times[0.0], times[10.0]
    assert fresh["least_in_flight"] < fresh["power_of_two"] < fresh["weighted_random"]
    assert old["least_in_flight"] == max(old.values())
    assert fresh["weighted_random"] == old["weighted_random"]


def test_a_machine_that_is_faster_gets_more():
    """Greedy by speed lets all machines end at about the same time."""
    placed = place("least_in_flight", [1.0, 3.0], [1.0] * 100, seed=1)
    assert [machine.inflight for machine in placed.machines] == [25, 75]
    assert placed.makespan == placed.optimum == 25.0
