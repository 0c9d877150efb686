"""Section 3.5.3 of the paper."""

from __future__ import annotations

import pytest

from steelyard.lab.scored import Damped
from steelyard.lab.timeseries import MODES, Timeseries, run
from tests.lab.watch import Counting

pytestmark = pytest.mark.xdist_group("timeseries")  # one run for all tests

RANDOM, BY_SCORE, OURS, EQUAL = MODES


@pytest.fixture(scope="module")
def told():
    watcher = Counting()
    report = run(Timeseries(runs=6), watcher)
    assert watcher.done == watcher.planned == 24
    return report


def test_a_busy_worker_is_chosen_less(told):
    """A busy worker is chosen less, with the paper's random queues and with measured ones."""
    for name in (RANDOM, BY_SCORE):
        shares = told.table("choice").column(name)
        assert shares[9] < 0.5 < 1.0 < shares[2]


def test_equal_weights_do_not_look(told):
    """With equal weights a busy worker gets its fair share."""
    shares = [share for share in told.table("choice").column(EQUAL) if share is not None]
    assert shares == pytest.approx([1.0] * len(shares), abs=0.1)


def test_damped_weights_swing_less(told):
    """Damped weights deviate less than scores taken as weights."""
    deviation = dict(zip(MODES, told.table("steadiness").column("deviation"), strict=True))
    assert deviation[OURS] < 0.8 * deviation[BY_SCORE]


def test_a_queue_every_two_seconds(told):
    """Each queue has every worker, and their shares add up."""
    rows = [row for row in told.table("series").rows if row[0] == OURS]
    assert [row[1] for row in rows[:8]] == [2.0] * 4 + [4.0] * 4
    assert sum(row[4] for row in rows[:4]) == pytest.approx(4.0)


def test_damped_weights_are_the_cores():
    """Weights go from 100 a third of the way to 25 + 0.75 · score each tick, published in
    quarters.
    """
    weigh = Damped()
    assert [weigh([0.0])[0] for _ in range(4)] == [75, 50, 50, 50]
