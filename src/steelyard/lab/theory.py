"""Closed forms that simulations are checked against, each with its source."""

from __future__ import annotations

from itertools import count
from math import exp, inf, lgamma, log

# Supermarket model, two choices with replacement: mean number of requests per worker, by load and
# number of workers (Gast 2017, "Expected values estimated via mean-field approximation are 1/N
# accurate", the data in ngast/meanFieldAccuracy @ 59d8b4d).
TWO_CHOICES_PUBLISHED = {
    (0.7, 10): 1.2194,
    (0.7, 20): 1.1735,
    (0.7, 50): 1.1471,
    (0.7, 100): 1.1384,
    (0.9, 10): 2.8042,
    (0.9, 20): 2.5665,
    (0.9, 50): 2.4344,
    (0.9, 100): 2.3931,
}

# Balls into as many bins, two choices: share of bins with at least 1, 2, 3 balls (Mitzenmacher).
TWO_CHOICES_BINS = (0.762, 0.230, 0.0089)


def mmc_wait(load: float, servers: int) -> float:
    """Mean seconds in line of M/M/c at rate 1 per server, by Erlang C; `load` is ρ = λ/c.

    >>> round(mmc_wait(0.5, 1), 6)  # M/M/1: ρ / (1 − ρ)
    1.0
    """
    return erlang_c(load, servers) / (servers * (1 - load))


def erlang_c(load: float, servers: int) -> float:
    """The chance that a request finds all servers busy.

    By the recursion for Erlang B, B(k) = a·B(k−1) / (k + a·B(k−1)), which does not overflow.

    >>> round(erlang_c(0.5, 1), 6), round(erlang_c(0.5, 2), 6)
    (0.5, 0.333333)
    """
    offered, blocked = load * servers, 1.0
    for k in range(1, servers + 1):
        blocked = offered * blocked / (k + offered * blocked)
    return blocked / (1 - load * (1 - blocked))


def two_choices_length(load: float, choices: int = 2) -> float:
    """Mean number of requests per worker with infinitely many workers: Σ ρ^((d^k − 1)/(d − 1)).

    Vvedenskaya, Dobrushin, Karpelevich 1996; Mitzenmacher 1996.

    >>> round(two_choices_length(0.9), 4)
    2.3527
    """
    total = 0.0
    for k in count(1):
        share = load ** ((choices**k - 1) / (choices - 1))
        total += share
        if share < 1e-12:
            break
    return total


def random_maximum(balls: int, bins: int) -> float:
    """The expected maximum load when each ball goes into a random bin.

    E[max] = Σ P(max > k), with loads taken as independent Poisson variables: exact in the limit,
    and off by less than 0.1 for the numbers of the lab.
    """
    mean = balls / bins
    below, expected = 0.0, 0.0
    for k in count():
        below += exp(k * log(mean) - mean - lgamma(k + 1))
        more = 1 - min(below, 1.0) ** bins
        expected += more
        if k > mean and more < 1e-9:
            break
    return expected


def leading_term(bins: int, choices: int) -> float:
    """The growth of the maximum load with n balls in n bins, up to an additive constant.

    log n / log log n for one choice, log log n / log d for more (Azar, Broder, Karlin, Upfal 1994).
    """
    if bins < 16:
        return inf
    return log(bins) / log(log(bins)) if choices == 1 else log(log(bins)) / log(choices)
