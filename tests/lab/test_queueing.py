"""The simulator against closed forms and published figures; seeded, so that it is repeatable."""

from __future__ import annotations

import pytest

from steelyard.errors import UsageError
from steelyard.lab.queueing import Setting, Stage, one_line
from steelyard.lab.theory import TWO_CHOICES_PUBLISHED, mmc_wait
from steelyard.select import POLICIES


@pytest.mark.parametrize(("load", "servers"), [(0.5, 1), (0.5, 2)])
def test_waits_of_one_line_are_those_of_erlang_c(load, servers):
    """M/M/1 and M/M/c agree within 2 %, which is about two standard deviations of such a run.

    Higher loads need longer runs than a test has time for: `steelyard lab validate` does them.
    """
    waits = one_line(load, servers, 500_000, seed=3).waits(warm_up=0.1)
    assert waits.mean() == pytest.approx(mmc_wait(load, servers), rel=0.02)


@pytest.mark.parametrize(("load", "workers"), [(0.7, 10), (0.7, 20)])
def test_two_choices_as_published(load, workers):
    """Mean requests per worker agree within 2 % with Gast's simulations; one choice would be far
    off.
    """
    stage = Stage(Setting("power_of_two", load, 150_000, [1.0] * workers, seed=3)).run()
    length = load * stage.journal.times(warm_up=0.1).mean()
    assert length == pytest.approx(TWO_CHOICES_PUBLISHED[load, workers], rel=0.02)


@pytest.mark.parametrize("policy", POLICIES)
def test_the_same_seed_gives_the_same_run(policy):
    """With every policy the same seed gives the same run to the last digit, and another seed does
    not.
    """
    times = [
        Stage(Setting(policy, 0.7, 500, [2.0, 1.0, 1.0], seed=seed)).run().journal.times().tolist()
        for seed in (7, 7, 8)
    ]
    assert times[0] == times[1] != times[2]


@pytest.mark.parametrize(
    ("change", "word"),
    [
        ({"policy": "best_of_all"}, "policy cannot be 'best_of_all'"),
        ({"speeds": []}, "speeds cannot be"),
        ({"speeds": [1.0, -1.0]}, "speeds cannot be"),
        ({"speeds": [float("nan")]}, "speeds cannot be"),
        ({"load": 0.0}, "load cannot be 0"),
        ({"load": float("inf")}, "load cannot be inf"),
        ({"requests": -1}, "requests cannot be -1"),
    ],
)
def test_a_setting_that_cannot_be_is_refused(change, word):
    """A setting that is not possible is refused with what it has to be."""
    right = {"policy": "power_of_two", "load": 0.5, "requests": 10, "speeds": [1.0]}
    assert Stage(Setting(**right)).run().picks == [10]
    with pytest.raises(UsageError, match=word):
        Setting(**(right | change))


def test_every_request_ends_once():
    """No request is in flight at the end, and the requests of all workers add up."""
    stage = Stage(Setting("least_in_flight", 0.9, 5000, [1.0, 3.0])).run()
    assert len(stage.journal.times()) == sum(stage.picks) == 5000
    assert [worker.inflight for worker in stage.workers] == [0, 0]


def test_a_faster_worker_does_more_for_who_looks_at_lines():
    """A worker with three times the speed does about three times the work, with equal weights."""
    stage = Stage(Setting("shortest_wait", 0.9, 20_000, [1.0, 3.0])).run()
    slow, fast = stage.picks
    assert 2.2 < fast / slow < 3.8
