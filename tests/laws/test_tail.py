"""The tail of response times, by simulation on virtual time: the reason for the default policy.

There are four workers with service rates of 100 : 50 : 25 : 5, 70 % load, one request at a time
each, exponential arrivals and services, and a balancer that does not know the rates
(docs/decisions/0008).
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from statistics import median

import pytest

from steelyard.config.settings import Gateway
from tests.laws.drive import NAMES
from tests.laws.simulation import Server, percentile, simulate

RATES = (100.0, 50.0, 25.0, 5.0)
LOAD = 0.7
DEFAULT = Gateway().policy
EVEN = (1.0,) * len(RATES)


@cache
def p99(policy: str, weights: Sequence[float] = EVEN, balancers: int = 1) -> float:
    """The response time that 1 % of requests exceed; the median over some seeds."""
    return median(_p99(policy, weights, balancers, seed) for seed in range(1, 4))


def _p99(policy: str, weights: Sequence[float], balancers: int, seed: int) -> float:
    servers = [Server(rate) for rate in RATES]
    answers = simulate(
        policy, servers, LOAD * sum(RATES), 60.0, weights=weights, balancers=balancers, seed=seed
    )
    return percentile(answers, 99)


@pytest.mark.parametrize("policy", sorted({*NAMES} - {DEFAULT}))
def test_the_default_has_the_lowest_tail_when_rates_are_unknown(policy: str) -> None:
    """The default has a third of the tail of any other policy."""
    assert p99(DEFAULT) < p99(policy) / 3


@pytest.mark.parametrize("policy", ["least_in_flight", "peak_ewma", "ring_of_two", "power_of_two"])
def test_also_among_several_balancers_that_see_only_their_own(policy: str) -> None:
    """Four processes of one gateway do not know what the others have sent."""
    assert p99(DEFAULT, balancers=4) < p99(policy, balancers=4) / 3


def test_learning_comes_close_to_knowing() -> None:
    """The tail is within 15 % of the greedy rule with true weights."""
    assert p99(DEFAULT) < 1.15 * p99("least_in_flight", RATES)


def test_weights_that_tell_the_rates_do_no_harm() -> None:
    """Weights that follow the rates do not count twice."""
    assert p99(DEFAULT, RATES) < 1.15 * p99("least_in_flight", RATES)


@pytest.mark.parametrize("policy", ["weighted_ring", "weighted_random"])
def test_looking_at_the_load_pays_even_with_true_weights(policy: str) -> None:
    """Shares alone, however exact, have more than twice the tail."""
    assert p99(policy, RATES) > 2 * p99(DEFAULT)
