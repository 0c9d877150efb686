"""Section 3.5 of the paper."""

from __future__ import annotations

import pytest

from steelyard.lab.efficiency import SCENARIOS, Efficiency, eta, run
from tests.lab.watch import Counting

pytestmark = pytest.mark.xdist_group("efficiency")  # one run for all tests


@pytest.mark.parametrize("scenario", SCENARIOS)
def test_eta_of_the_papers_own_runs(scenario):
    """The formula gives the paper's figures for the paper's counts."""
    assert eta(scenario.paper_counts, scenario.weights) == pytest.approx(
        scenario.paper_eta, abs=1e-3
    )


@pytest.fixture(scope="module")
def told():
    watcher = Counting()
    report = run(Efficiency(runs=4), watcher)
    assert watcher.done == watcher.planned > 0
    return report


def test_the_ring_reaches_its_bar_and_random_choice_does_not(told):
    """η ≥ 0.99 in every run of both scenarios with R = 10⁴ by the ring, and in none at random."""
    assert [bar.met for bar in told.bars] == [True, True]
    best = {row[0]: row[5] for row in told.table("eta").rows if row[1] == "weighted_random"}
    assert max(best.values()) < 0.99


def test_expected_counts_are_the_papers(told):
    """The expected counts are 5556, 2778, 1389, 278, and the counts of each policy add up."""
    shares = told.table("shares")
    assert shares.column("expected")[:4] == [5556, 2778, 1389, 278]
    for policy in ("weighted_random", "weighted_ring", "ring_of_two"):
        assert sum(shares.column(policy)[:4]) == 10_000


def test_under_load_who_looks_at_lines_is_faster_than_who_draws(told):
    """The ring, whose gaps are even, lies between the policies by load and random choice."""
    time = {row[1]: row[4] for row in told.table("load").rows if row[0] == "heterogeneous"}
    assert (
        time["shortest_wait"]
        < time["ring_of_two"]
        < time["weighted_ring"]
        < time["weighted_random"]
    )


def test_the_same_seed_gives_the_same_report(told):
    """The same seed gives the same report to the last digit."""
    assert run(Efficiency(runs=4), Counting()) == told
