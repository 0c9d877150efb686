"""The tail bench: its workers, its arrivals, what it sums up."""

from __future__ import annotations

import random

import pytest

from steelyard.bench.tail.client import Answer, arrivals
from steelyard.bench.tail.contenders import contenders, our_policies
from steelyard.bench.tail.report import eta, sum_up, sum_up_round
from steelyard.bench.tail.workers import Desk


def test_eta_is_one_when_shares_follow_weights():
    """Half of it when one worker got half of its due; 0 when it got nothing."""
    assert eta([100, 50, 25, 5], [100, 50, 25, 5]) == 1
    assert eta([50, 50], [100, 50]) == 0.5
    assert eta([0, 50], [1, 1]) == 0
    assert eta([0, 0], [1, 1]) is None


def test_a_worker_serves_one_request_at_a_time():
    """In order, and at its rate, however many arrive at once."""
    desk = Desk(rate=50, rng=random.Random(1))
    ends = [desk.finish(now=0.0) for _ in range(5000)]
    assert ends == sorted(ends)
    assert ends[-1] == pytest.approx(5000 / 50, rel=0.05)


def test_an_idle_worker_begins_at_once():
    """It does not owe the time in which nobody asked."""
    desk = Desk(rate=1000, rng=random.Random(1))
    desk.finish(now=0.0)
    assert 100 < desk.finish(now=100.0) < 101


def test_arrivals_are_seeded_and_have_the_rate():
    """The same for every contender of a round."""
    times = list(arrivals(126, 60, random.Random(3)))
    assert times == list(arrivals(126, 60, random.Random(3)))
    assert len(times) == pytest.approx(126 * 60, rel=0.05)


def test_rounds_become_lines():
    """What nobody answered has failed, and is in no percentile."""
    answers = [Answer(0.010, 0), Answer(0.020, 1), Answer(9.0, None)]
    rounds = [sum_up_round("ring", number, answers, [1, 1], 0.0) for number in range(2)]
    (line,) = sum_up(rounds)
    assert (line.p50_ms, line.p99_ms, line.eta, line.errors) == (10, 20, 1, 2)


def test_our_policies_are_there_with_the_others():
    """At least the one that there is today; no name twice."""
    names = [one.name for one in contenders()]
    assert our_policies()
    assert len(names) == len(set(names))
    assert names[-2:] == ["nginx random two least_conn", "HAProxy leastconn"]
