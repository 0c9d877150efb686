"""The claim of seed 002."""

from __future__ import annotations

import pytest

from steelyard.errors import UsageError
from steelyard.lab.compare import FASTER, LINE, MESH, PULL, SCENARIOS, SEEDS_PULL, Compare, run
from steelyard.select import KEYED, POLICIES
from tests.lab.watch import Counting

pytestmark = pytest.mark.xdist_group("compare")  # one run for all tests
WISH = Compare(units=400, runs=6)


@pytest.fixture(scope="module")
def told():
    watcher = Counting()
    report = run(WISH, watcher)
    assert watcher.done == watcher.planned > 0
    return report


@pytest.fixture
def spans(told):
    return {row[:2]: row[2] for row in told.table("jobs").rows}


def test_every_policy_and_every_way_to_pull_is_there(spans):
    """Every policy is run in every scenario, but pulling has no balancer that could die."""
    for scenario in SCENARIOS:
        assert {(scenario, name) for name in (*POLICIES, *KEYED, LINE)} <= set(spans)
    pulls = {name for scenario, name in spans if name.startswith("pull")}
    assert pulls == {SEEDS_PULL, PULL, MESH, FASTER}
    assert not any((SCENARIOS[2], name) in spans for name in pulls)


def test_nothing_is_lost_and_nothing_beats_the_ideal(told, spans):
    """All units are delivered, and no makespan is below the ideal."""
    assert [bar.met for bar in told.bars] == [True]
    assert min(spans.values()) > 1.0


@pytest.mark.parametrize("scenario", SCENARIOS[:2])
def test_pulling_beats_every_policy_that_does_not_know_the_speeds(spans, scenario):
    """A balancer that keeps units waiting does as well as pulling without hedges."""
    pushed = min(spans[scenario, name] for name in (*POLICIES, *KEYED))
    assert max(spans[scenario, name] for name in (MESH, FASTER, SEEDS_PULL)) < pushed
    assert spans[scenario, LINE] == pytest.approx(spans[scenario, PULL], rel=0.25)


def test_a_balancer_that_dies_costs_time(spans):
    """The death of the balancer costs time with every good policy."""
    for name in ("least_in_flight", "shortest_wait", LINE):
        assert spans[SCENARIOS[2], name] > spans[SCENARIOS[0], name]


def test_the_same_seed_gives_the_same_report():
    """The same seed gives the same report to the last digit, and another seed another one."""
    first, again, other = (run(Compare(units=50, runs=2, seed=seed), Counting()).tables
                           for seed in (7, 7, 8))  # fmt: skip
    assert first == again != other


def test_a_job_that_nobody_could_finish_is_refused():
    """A job whose nodes would all die is refused."""
    with pytest.raises(UsageError, match="4 of 4 nodes would die"):
        run(Compare(nodes=4, dying=1.0), Counting())
