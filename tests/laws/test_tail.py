"""The tail of response times, by simulation on virtual time: what policies are chosen by.

Four workers with service rates of 100 : 50 : 25 : 5, 70 % load, one server each, arrivals and
services exponential, the balancer knowing nothing of the rates (docs/decisions/0008).
"""

from __future__ import annotations

import random
from collections import deque
from heapq import heappop, heappush
from itertools import count

import pytest

from steelyard.select import fade, pace
from tests.laws.drive import NAMES, Member, picker

RATES = (100.0, 50.0, 25.0, 5.0)
LOAD = 0.7
REQUESTS = 12_000
WARM_UP = 2_000


class Server(Member):
    """A member with a line of (arrival, length of the line it joined), one served at a time."""

    def __init__(self, rate: float) -> None:
        super().__init__(f"rate {rate:g}", cost=0.0)
        self.rate = rate
        self.line: deque[tuple[float, int]] = deque()
        self.seen = 0.0


def p99(policy: str, weights: tuple[float, ...]) -> float:
    """The response time in seconds that one request in a hundred exceeds."""
    rng, order = random.Random(1), count()
    servers = [Server(rate) for rate in RATES]
    pick = picker(policy, servers, weights)
    ends: list[tuple[float, int, Server]] = []
    times: list[float] = []
    arrival = faded = 0.0
    while len(times) < REQUESTS:
        if ends and ends[0][0] <= arrival:
            now, _, server = heappop(ends)
            came, joined = server.line.popleft()
            server.inflight -= 1
            server.cost = pace(server.cost, now - came, joined)
            server.seen = now
            times.append(now - came)
        else:
            now, server = arrival, pick()
            assert isinstance(server, Server)
            arrival += rng.expovariate(LOAD * sum(RATES))
            server.inflight += 1
            server.line.append((now, server.inflight))
            if server.inflight > 1:
                continue
        if now - faded > 0.5:
            for other in servers:
                other.cost = other.cost if other.seen > faded else fade(other.cost, now - faded)
            faded = now
        if server.line:
            heappush(ends, (now + rng.expovariate(server.rate), next(order), server))
    return sorted(times[WARM_UP:])[int(0.99 * (REQUESTS - WARM_UP))]


def test_shortest_wait_has_the_lowest_tail_when_rates_are_unknown() -> None:
    """By far: half of what any other policy has."""
    tails = {policy: p99(policy, (1.0,) * 4) for policy in NAMES}
    shortest = tails.pop("shortest_wait")
    assert shortest < min(tails.values()) / 2


def test_shortest_wait_comes_close_to_who_knows_the_rates() -> None:
    """Learning costs less than a third over the greedy rule with true weights."""
    assert p99("shortest_wait", (1.0,) * 4) < 1.33 * p99("least_in_flight", RATES)


@pytest.mark.parametrize("policy", ["weighted_ring", "weighted_random"])
def test_looking_at_the_load_pays_even_with_true_weights(policy: str) -> None:
    """Shares alone, however exact, have more than twice the tail."""
    assert p99(policy, RATES) > 2 * p99("shortest_wait", (1.0,) * 4)
