"""Tests of how many retries the budget allows."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from steelyard.balancer.pool.retry_budget import MINIMUM, WINDOW, RetryBudget
from tests.balancer.stage import Conn, stage

ALWAYS = int(MINIMUM * WINDOW)


def spend_all(budget: RetryBudget, now: float) -> int:
    taken = 0
    while budget.spend(now):
        taken += 1
    return taken


@pytest.mark.parametrize(
    ("share", "requests", "retries"),
    [(0.2, 0, 50), (0.2, 1000, 250), (0.0, 1000, 50), (1, 100, 150)],
)
def test_share_of_requests(share: float, requests: int, retries: int) -> None:
    """The budget allows a share of the requests and a minimum number of retries beside."""
    budget = RetryBudget(share, 0.0)
    budget.requests += requests
    assert spend_all(budget, 1.0) == retries
    assert not budget.spend(4.9)


def test_the_past_counts_for_two_windows() -> None:
    """Retries that were spent count in the window after, and no longer."""
    budget = RetryBudget(0.2, 0.0)
    budget.requests += 1000
    assert spend_all(budget, 1.0) == 250
    assert spend_all(budget, WINDOW) == 0
    assert spend_all(budget, 2 * WINDOW) == ALWAYS


def test_old_requests_do_not_add_up() -> None:
    """Requests of a long quiet time do not add up to a budget for many retries."""
    budget = RetryBudget(0.2, 0.0)
    budget.requests += 86_400
    assert spend_all(budget, 86_400.0) == ALWAYS + int(0.2 * WINDOW)


@given(st.lists(st.tuples(st.integers(0, 200), st.integers(0, 200)), max_size=60))
def test_an_outage_is_not_amplified(seconds: list[tuple[int, int]]) -> None:
    """Over any time the retries stay near the share and the minimum, however many are asked for."""
    budget, requests, retries = RetryBudget(0.2, 0.0), 0, 0
    for now, (more, wanted) in enumerate(seconds):
        budget.requests += more
        requests += more
        retries += sum(budget.spend(float(now)) for _ in range(wanted))
        assert retries <= 2 * (0.2 * requests + MINIMUM * (now + 2 * WINDOW))


def test_without_budget_a_failure_is_final() -> None:
    """When the budget is spent, the client gets the failure without a retry."""

    def drop(conn: Conn) -> None:
        conn.request()

    with stage(drop, drop, retry_budget=0, eject_after=None, retries=1) as s:
        for _ in range(ALWAYS + 10):
            assert s.get().status == 502
        tries = sum(len(worker.seen) for worker in s.workers)
        assert tries == 2 * ALWAYS + 10
