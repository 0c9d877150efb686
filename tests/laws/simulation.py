"""Balancers in front of servers, on virtual time, to test promises about waiting.

Servers work on one request at a time, in the order of arrival; arrivals are Poisson, services
exponential unless a server fails at once. Several balancers share the servers, and each sees only
its own requests. The balancer's own gauges keep the costs, and costs fade as its control thread
lets them.
"""

from __future__ import annotations

import random
from collections.abc import Sequence
from dataclasses import dataclass, field
from heapq import heappop, heappush
from itertools import count

from steelyard.balancer.pool.counters import Bell, Tally
from steelyard.balancer.pool.latency import ESTIMATORS, assume, forget
from tests.laws.drive import Pick, picker

TEND = 0.5  # seconds, as in balancer/control/control.py
QUICK = 0.0005  # seconds that a failure takes
NEVER = float("inf")


@dataclass(eq=False)
class Server:
    """One worker as it is, unknown to the balancers."""

    rate: float
    pause: tuple[float, float] = (NEVER, NEVER)  # from, until: no request is worked on
    fails: tuple[float, float] = (NEVER, NEVER)  # from, until: it answers 500 at once
    slows: tuple[float, float] = (NEVER, 1.0)  # from then on, it is so many times slower
    free_at: float = 0.0

    def finish(self, now: float, rng: random.Random) -> float:
        """When a request that arrives now will be done."""
        work = rng.expovariate(self.rate) * (self.slows[1] if now >= self.slows[0] else 1.0)
        if self.fails[0] <= now < self.fails[1]:
            return now + QUICK
        start = max(now, self.free_at)
        end = start + work
        if start < self.pause[1] and end > self.pause[0]:
            end = self.pause[1] + work
        self.free_at = end
        return end


class View(Tally):
    """What one balancer knows of a server."""

    def __init__(self, name: str) -> None:
        super().__init__(Bell())
        self._name = name

    @property
    def name(self) -> str:
        return self._name


@dataclass(frozen=True)
class Answer:
    """One request after its end."""

    came: float
    seconds: float
    server: int
    balancer: int
    failed: bool


@dataclass(order=True)
class _Open:
    end: float
    order: int
    came: float = field(compare=False)
    joined: int = field(compare=False)
    server: int = field(compare=False)
    balancer: int = field(compare=False)
    failed: bool = field(compare=False)


class Balancer:
    """One balancer process: its views of the servers, its selector, its gauge."""

    def __init__(self, policy: str, weights: Sequence[float], seed: int) -> None:
        self.views = [View(f"m{number}") for number in range(len(weights))]
        self.pick: Pick = picker(policy, self.views, weights, seed)
        self.index = {id(view): number for number, view in enumerate(self.views)}
        self._gauge = ESTIMATORS.get(policy)
        self._answers = 0
        self._tended = 0.0

    def answered(self, view: View, seconds: float, joined: int, now: float) -> None:
        """Measure an answer, as `Pool.measured` does."""
        self._answers += 1
        view.requests += 1
        view.inflight -= 1
        if self._gauge is not None:
            known = view.seen
            self._gauge(view, seconds, joined, now)
            if not known:
                assume(self.views)

    def tend(self, now: float) -> None:
        """Let costs fade, as `Directory.tend` does."""
        forget(self.views, self._tended, now, self._answers)
        self._tended, self._answers = now, 0


def simulate(
    policy: str,
    servers: Sequence[Server],
    rate: float,
    seconds: float,
    *,
    weights: Sequence[float] | None = None,
    balancers: int = 1,
    seed: int = 1,
) -> list[Answer]:
    """Simulate so many seconds; return all requests in the order of their ends."""
    rng, order = random.Random(seed), count()
    desks = [random.Random(f"{seed} {number}") for number in range(len(servers))]
    even = weights or [1.0] * len(servers)
    ours = [Balancer(policy, even, seed + number) for number in range(balancers)]
    answers: list[Answer] = []
    under_way: list[_Open] = []
    now, tend_at = rng.expovariate(rate), TEND
    while now < seconds:
        while tend_at <= now:
            _end(under_way, tend_at, ours, answers)
            for balancer in ours:
                balancer.tend(tend_at)
            tend_at += TEND
        _end(under_way, now, ours, answers)
        who = rng.randrange(balancers)
        balancer = ours[who]
        view = balancer.pick()
        assert isinstance(view, View)
        number = balancer.index[id(view)]
        server = servers[number]
        view.enter()
        failed = server.fails[0] <= now < server.fails[1]
        end = server.finish(now, desks[number])
        heappush(under_way, _Open(end, next(order), now, view.inflight, number, who, failed))
        now += rng.expovariate(rate)
    _end(under_way, NEVER, ours, answers)
    return answers


def _end(under_way: list[_Open], until: float, ours: list[Balancer], answers: list[Answer]) -> None:
    while under_way and under_way[0].end <= until:
        one = heappop(under_way)
        took = one.end - one.came
        answers.append(Answer(one.came, took, one.server, one.balancer, one.failed))
        balancer = ours[one.balancer]
        balancer.answered(
            balancer.views[one.server], NEVER if one.failed else took, one.joined, one.end
        )


def percentile(answers: Sequence[Answer], percent: float, since: float = 0.0) -> float:
    """The percentile of the response times of requests that came since then."""
    times = sorted(answer.seconds for answer in answers if answer.came >= since)
    return times[min(len(times) - 1, int(len(times) * percent / 100))]
