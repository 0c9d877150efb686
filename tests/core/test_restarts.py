"""Restarts: the back-off of starts."""

from __future__ import annotations

from steelyard.core.restarts import Restarts


def test_without_failures_everything_may_start():
    """All missing workers may start at once if no start has failed."""
    assert Restarts(1, 60).allowed(4, booting=2, now=0) == 4


def test_delays_double_up_to_the_longest():
    """The delays are 1, 2, 4, 5, 5 … seconds if the longest is 5."""
    restarts, now, delays = Restarts(1, 5), 0.0, []
    for _ in range(5):
        restarts.fail("w1", "crashed", now)
        delays.append(restarts.next_try - now)
        now = restarts.next_try
    assert delays == [1, 2, 4, 5, 5]


def test_failures_that_fall_together_are_one():
    """Four workers that crash at once cause the delay of one failure."""
    restarts = Restarts(1, 60)
    for _ in range(4):
        restarts.fail("w1", "crashed", 0.0)
    assert (restarts.failures, restarts.next_try) == (1, 1.0)


def test_one_at_a_time_while_it_fails():
    """No worker starts before the delay is over or while another boots, and then only one."""
    restarts = Restarts(1, 60)
    restarts.fail("w1", "crashed", 0.0)
    assert restarts.allowed(4, booting=0, now=0.5) == 0
    assert restarts.allowed(4, booting=1, now=1.0) == 0
    assert restarts.allowed(4, booting=0, now=1.0) == 1


def test_only_a_younger_worker_that_lasts_ends_the_series():
    """An older healthy worker does not prove that new starts succeed."""
    restarts = Restarts(1, 60, stable=10)
    restarts.fail("w1", "crashed", 100.0)
    old, young = (50.0, 51.0), (101.0, 102.0)
    restarts.prove([old], complete=False, now=200.0)
    assert restarts.failures == 1
    restarts.prove([old, young], complete=True, now=105.0)
    assert restarts.failures == 1
    restarts.prove([old, young], complete=False, now=112.0)
    assert (restarts.failures, restarts.trouble) == (0, "")


def test_trouble_ends_when_nothing_needs_to_be_started():
    """A complete fleet that lasts ends the series, as the failed worker is not needed."""
    restarts = Restarts(1, 60, stable=10)
    restarts.fail("w1", "crashed", 100.0)
    restarts.prove([(50.0, 51.0)], complete=True, now=101.0)
    assert (restarts.failures, restarts.trouble) == (0, "")
