"""Restarts: the back-off."""

from __future__ import annotations

from steelyard.core.restarts import Restarts


def test_without_failures_everything_may_start():
    """All missing workers at once."""
    assert Restarts(1, 60).allowed(4, booting=2, now=0) == 4


def test_delays_double_up_to_the_longest():
    """1, 2, 4, 5, 5 … seconds."""
    restarts, now, delays = Restarts(1, 5), 0.0, []
    for _ in range(5):
        restarts.fail("w1", "crashed", now)
        delays.append(restarts.next_try - now)
        now = restarts.next_try
    assert delays == [1, 2, 4, 5, 5]


def test_failures_that_fall_together_are_one():
    """Four workers that crash at once do not mean eight seconds."""
    restarts = Restarts(1, 60)
    for _ in range(4):
        restarts.fail("w1", "crashed", 0.0)
    assert (restarts.failures, restarts.next_try) == (1, 1.0)


def test_one_at_a_time_while_it_fails():
    """None before the time, none while one boots, then one."""
    restarts = Restarts(1, 60)
    restarts.fail("w1", "crashed", 0.0)
    assert restarts.allowed(4, booting=0, now=0.5) == 0
    assert restarts.allowed(4, booting=1, now=1.0) == 0
    assert restarts.allowed(4, booting=0, now=1.0) == 1


def test_only_a_younger_worker_that_lasts_ends_the_series():
    """An old healthy neighbour proves nothing about new starts."""
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
    """The place of the worker that failed was given up meanwhile."""
    restarts = Restarts(1, 60, stable=10)
    restarts.fail("w1", "crashed", 100.0)
    restarts.prove([(50.0, 51.0)], complete=True, now=101.0)
    assert (restarts.failures, restarts.trouble) == (0, "")
