"""A balancer in front of workers: Poisson arrivals, exponential work, one policy."""

from __future__ import annotations

import random
from collections.abc import Sequence
from dataclasses import dataclass
from math import inf

from steelyard.errors import UsageError
from steelyard.lab.draws import exponential, generators
from steelyard.lab.gauge import gauge_for
from steelyard.lab.timeline import Timeline
from steelyard.lab.traffic import Journal, Traffic
from steelyard.lab.worker import Request, Worker, fleet
from steelyard.select import POLICIES


@dataclass(frozen=True, slots=True)
class Setting:
    """The settings of a simulation. Work takes a second on average at speed 1; the load is a share
    of what all workers can do.
    """

    policy: str
    load: float
    requests: int
    speeds: Sequence[float] = (1.0,)
    # The weights that the balancer is given; None: all equal.
    weights: Sequence[float] | None = None
    seed: int = 1

    def __post_init__(self) -> None:
        if self.policy not in POLICIES:
            raise _wrong("policy", self.policy, f"one of {', '.join(POLICIES)}")
        if not self.speeds or not all(0 < speed < inf for speed in self.speeds):
            raise _wrong("speeds", list(self.speeds), "a number above 0 for each worker, and one")
        if not 0 < self.load < inf:
            raise _wrong("load", self.load, "above 0")
        if self.requests < 0:  # a negative number would never end
            raise _wrong("requests", self.requests, "0 or more")


def _wrong(what: str, value: object, right: str) -> UsageError:
    return UsageError(f"{what} cannot be {value!r} in a simulation", hint=f"it has to be {right}")


class Stage:
    """The parts of a simulation, before it runs, so that experiments can plan events of
    their own.
    """

    def __init__(self, setting: Setting) -> None:
        gaps, works = generators(setting.seed, 2)
        self.timeline = Timeline()
        self.journal = Journal()
        self._gauge = gauge_for(setting.policy)
        self.workers = fleet(setting.speeds, self.timeline, self._ended)
        weights = setting.weights or [1.0] * len(self.workers)
        selector = POLICIES[setting.policy](self.workers, weights, random.Random(setting.seed))
        self.traffic = Traffic(
            self.timeline,
            setting.requests,
            gap=exponential(gaps, 1 / (setting.load * sum(setting.speeds))),
            work=exponential(works, 1.0),
            pick=selector.pick,
        )

    @property
    def picks(self) -> list[int]:
        """The number of requests that each worker got so far."""
        return [worker.taken for worker in self.workers]

    def run(self) -> Stage:
        """Run until the last request has ended."""
        self.traffic.begin()
        self.timeline.run()
        return self

    def _ended(self, request: Request) -> None:
        self.journal.note(request)
        if self._gauge is not None:
            self._gauge(request)


def one_line(load: float, servers: int, requests: int, seed: int) -> Journal:
    """M/M/c: one waiting line for all servers, and no choice to make."""
    gaps, works = generators(seed, 2)
    timeline, journal = Timeline(), Journal()
    worker = Worker("worker-0", timeline, journal.note, servers=servers)
    gap, work = exponential(gaps, 1 / (load * servers)), exponential(works, 1.0)
    Traffic(timeline, requests, gap=gap, work=work, pick=lambda: worker).begin()
    timeline.run()
    return journal
