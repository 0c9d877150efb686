"""What the default policy promises besides a short tail, by simulation on virtual time.

There are four equal workers with 100 requests per second each, unless said otherwise.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from statistics import median

import pytest

from steelyard.config.settings import Gateway
from tests.laws.simulation import Answer, Server, percentile, simulate

DEFAULT = Gateway().policy
BRISK, QUIET = 200.0, 20.0  # requests per second: half of what the workers can do, and a twentieth
SEEDS = (1, 2, 3)
MANY = pytest.mark.parametrize("balancers", [1, 4])
RATE = pytest.mark.parametrize("rate", [BRISK, QUIET])
SEED = pytest.mark.parametrize("seed", SEEDS)


def equal(number: int = 4) -> list[Server]:
    return [Server(100.0) for _ in range(number)]


def share(answers: Sequence[Answer], server: int, since: float, until: float = 1e9) -> float:
    """The share of the requests of a period that a server got."""
    came = [answer for answer in answers if since <= answer.came < until]
    return sum(answer.server == server for answer in came) / len(came)


@RATE
@MANY
@SEED
def test_equal_workers_share(rate: float, balancers: int, seed: int) -> None:
    """Equal workers share alike, however noisy the measurements, and though each balancer learns
    alone.
    """
    answers = simulate(DEFAULT, equal(), rate, 60.0, balancers=balancers, seed=seed)
    for server in range(4):
        assert 0.14 < share(answers, server, 0.0) < 0.36


@SEED
def test_balancers_that_start_together_do_not_herd(seed: int) -> None:
    """Of the very first requests of eight balancers, no worker gets half."""
    answers = simulate(DEFAULT, equal(), 200.0, 0.5, balancers=8, seed=seed)
    for server in range(4):
        assert 0.1 < share(answers, server, 0.0) < 0.45


@MANY
def test_equal_workers_wait_no_longer_than_with_the_greedy_rule(balancers: int) -> None:
    """Learning costs next to nothing where there is nothing to learn."""
    tails = {
        policy: percentile(simulate(policy, equal(), 280.0, 60.0, balancers=balancers), 99)
        for policy in (DEFAULT, "least_in_flight")
    }
    assert tails[DEFAULT] < 1.1 * tails["least_in_flight"]


@RATE
@MANY
@SEED
def test_a_worker_that_stood_still_for_two_seconds_is_back_soon(
    rate: float, balancers: int, seed: int
) -> None:
    """While a worker stands still, as in a garbage collection, next to nothing goes there; in the
    ten seconds after it gets at least half of its share, even if the others could do without it.
    """
    servers = equal()
    servers[1].pause = (20.0, 22.0)
    answers = simulate(DEFAULT, servers, rate, 32.0, balancers=balancers, seed=seed)
    assert share(answers, 1, 20.2, 22.0) < 0.15
    assert share(answers, 1, 22.0, 32.0) > 0.12


@MANY
@SEED
def test_a_cold_start_is_forgiven(balancers: int, seed: int) -> None:
    """A worker whose first answers take two seconds has its share within ten more."""
    servers = equal()
    servers[1].pause = (0.0, 2.0)
    answers = simulate(DEFAULT, servers, BRISK, 22.0, balancers=balancers, seed=seed)
    assert share(answers, 1, 12.0, 22.0) > 0.2


@MANY
@pytest.mark.parametrize("seed", [25, 34, 79, 81, 82, 88])
def test_a_slow_worker_gets_no_crowd_before_it_is_known(balancers: int, seed: int) -> None:
    """These are the worst of 100 seeds: the first answers of the slow worker were quick, or very
    late.
    """
    servers = [Server(rate) for rate in (100.0, 50.0, 25.0, 5.0)]
    answers = simulate(DEFAULT, servers, 126.0, 12.0, balancers=balancers, seed=seed)
    first = [answer for answer in answers if answer.came < 2.0]
    assert len([answer for answer in first if answer.server == 3]) < 0.1 * len(first)


@cache
def slowed(seed: int) -> list[Answer]:
    servers = equal()
    servers[1].slows = (20.0, 20.0)
    return simulate(DEFAULT, servers, BRISK, 40.0, seed=seed)


@SEED
def test_a_worker_that_becomes_slow_is_found_out(seed: int) -> None:
    """In the ten seconds after a worker becomes twenty times slower it gets at most 2 % of
    requests.
    """
    assert share(slowed(seed), 1, 20.0, 30.0) < 0.02


@SEED
def test_a_slow_worker_is_tried_now_and_then(seed: int) -> None:
    """A slow worker still gets some requests, as it may have recovered, but less than 1 %."""
    assert 0 < share(slowed(seed), 1, 30.0, 40.0) < 0.01


def test_trying_takes_about_one_request_in_a_hundred() -> None:
    """Trials take about 1 % of requests, even where one every few seconds would be more."""
    shares = []
    for seed in SEEDS:
        servers = [Server(100.0), Server(100.0), Server(5.0)]
        answers = simulate(DEFAULT, servers, 2.0, 2000.0, seed=seed)
        shares.append(share(answers, 2, 200.0))
    assert 0 < median(shares) < 0.01
    assert max(shares) < 0.025


@RATE
@MANY
@SEED
def test_failing_fast_attracts_nobody(rate: float, balancers: int, seed: int) -> None:
    """A worker that fails at once is always idle, and would get most requests by load alone."""
    servers = equal()
    servers[1].fails = (20.0, 40.0)
    answers = simulate(DEFAULT, servers, rate, 40.0, balancers=balancers, seed=seed)
    assert share(answers, 1, 20.0) < 0.15
    assert share(answers, 1, 30.0) < 0.05


@MANY
@SEED
def test_one_that_fails_no_more_is_found_again(balancers: int, seed: int) -> None:
    """A worker that no longer fails has its share again within half a minute."""
    servers = equal()
    servers[1].fails = (5.0, 15.0)
    answers = simulate(DEFAULT, servers, BRISK, 55.0, balancers=balancers, seed=seed)
    assert share(answers, 1, 45.0) > 0.15


@SEED
def test_all_failing_is_no_preference(seed: int) -> None:
    """Workers that all fail share alike, then and afterwards."""
    servers = equal()
    for server in servers:
        server.fails = (5.0, 10.0)
    answers = simulate(DEFAULT, servers, BRISK, 30.0, seed=seed)
    for server in range(4):
        assert 0.1 < share(answers, server, 5.0, 10.0) < 0.5
        assert 0.15 < share(answers, server, 15.0) < 0.35
