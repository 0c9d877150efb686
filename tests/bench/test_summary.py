"""Medians over rounds, and ratios of medians."""

from __future__ import annotations

import pytest

from tests.bench.samples import report, sample


def lines(*samples):
    return {line.contender: line for line in report(*samples).summaries}


def test_costs_are_medians_over_rounds():
    """The cost is the median of user and system time together; user time is given apart."""
    told = lines(*(sample("pure", number, cost) for number, cost in enumerate((90, 30, 40))))
    assert told["pure"].cpu_us == pytest.approx(40)
    assert told["pure"].user_us == pytest.approx(8)
    assert told["pure"].system_us == pytest.approx(32)
    assert told["pure"].rate == 500
    assert told["pure"].rounds == 3


def test_ratios_are_to_each_other_and_the_better_tuned_one():
    """Ratios compare medians of the same case."""
    costs = {"pure": 60, "nginx": 100, "haproxy": 80, "nginx-64k": 75, "haproxy-64k": 50}
    told = lines(*(sample(name, 0, cost) for name, cost in costs.items()))["pure"]
    assert told.ratios == pytest.approx(
        {"nginx": 0.6, "haproxy": 0.75, "nginx-64k": 0.8, "haproxy-64k": 1.2}
    )
    assert told.to_tuned == pytest.approx(1.2)


def test_a_case_without_the_others_has_no_ratio():
    """Figures of another case are not compared."""
    told = lines(sample("pure", 0, 60), sample("nginx", 0, 30, case="small"))["pure"]
    assert (told.ratios, told.to_tuned) == ({}, None)


def test_failed_requests_and_disturbed_rounds_are_counted():
    """Failed requests and disturbed rounds are counted, as both make figures doubtful."""
    told = lines(sample("pure", 0, 60, errors=2), sample("pure", 1, 60, errors=1, foreign=0.5))
    assert (told["pure"].errors, told["pure"].disturbed) == (3, 1)


def test_where_nobody_asks_ratios_are_of_memory():
    """Idle connections have no cost per request, so their ratios compare memory."""
    idle = {"nginx": 500.0, "pure": 750.0}
    told = lines(*(sample(n, 0, 9, case="idle", idle_bytes=b) for n, b in idle.items()))["pure"]
    assert (told.ratios, told.cpu_us, told.rate) == ({"nginx": 1.5}, None, None)


def test_a_round_without_an_answer_has_no_cost():
    """A round without an answer has no cost, and does not spoil the others."""
    told = lines(sample("pure", 0, 60, requests=0, errors=64), sample("pure", 1, 60))["pure"]
    assert told.cpu_us == pytest.approx(60)
