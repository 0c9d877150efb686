"""A job: units of unequal work, for nodes of unequal speed, some of which die on the way."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from steelyard.lab.draws import generators
from steelyard.lab.timeline import Timeline

# Pareto's α: the variance is infinite, and one unit in a thousand is a hundred times the mean.
TAIL = 1.5
LARGEST = 100.0  # times the mean; no unit is larger


@dataclass(frozen=True, slots=True)
class Job:
    """A job, the same for every method that is compared."""

    works: Sequence[float]  # seconds at speed 1, in the order of the units
    speeds: Sequence[float]  # of the nodes
    deaths: Mapping[int, float]  # when a node dies, by its number; other nodes do not die

    @property
    def total(self) -> float:
        return sum(self.works)

    @property
    def ideal(self) -> float:
        """A lower bound of the makespan: all nodes busy while they live, or the largest
        unit alone.
        """
        return max(self._all_busy(), max(self.works) / max(self.speeds))

    def capacity(self, until: float) -> float:
        """The work that all nodes can do until then."""
        return sum(speed * min(until, self.deaths.get(number, until))
                   for number, speed in enumerate(self.speeds))  # fmt: skip

    def _all_busy(self) -> float:
        rate, done, now = sum(self.speeds), 0.0, 0.0
        for number, time in sorted(self.deaths.items(), key=lambda death: death[1]):
            if done + rate * (time - now) >= self.total:
                break
            done, now, rate = done + rate * (time - now), time, rate - self.speeds[number]
        return now + (self.total - done) / rate


def draw_job(units: int, speeds: Sequence[float], deaths: int, seed: int) -> Job:
    """Draw heavy-tailed work of one second on average; so many nodes die, at random times of the
    job.
    """
    works, times = generators(seed, 2)
    # Lomax of mean 1/(α − 1), shifted to start at 1: Pareto with mean α/(α − 1).
    drawn = (1 + works.pareto(TAIL, units)) * (TAIL - 1) / TAIL
    whole = Job(np.minimum(drawn, LARGEST).tolist(), speeds, {})
    who = times.choice(len(speeds), deaths, replace=False).tolist()
    when = times.uniform(0.0, whole.ideal, deaths).tolist()
    return Job(whole.works, speeds, dict(zip(who, when, strict=True)))


class Attempt:
    """One unit at one node; a unit may need several attempts."""

    __slots__ = ("began", "came", "ended", "joined", "node", "number", "void", "work", "worker")

    def __init__(self, number: int, work: float) -> None:
        self.number = number  # the number of its unit
        self.work = work
        self.came = self.began = self.ended = 0.0
        self.joined = 0
        self.void = False  # whether its result is no longer awaited
        self.node: Node
        self.worker: object  # the sender's object for the node, which gauges need


class Node:
    """Works on one attempt at a time, first come, first served, until it dies."""

    __slots__ = ("_done", "_line", "_timeline", "busy", "dead", "number", "running", "speed")

    def __init__(
        self, number: int, speed: float, timeline: Timeline, done: Callable[[Attempt], None]
    ) -> None:
        self.number = number
        self.speed = speed
        self.dead = False
        self.busy = 0.0  # seconds worked
        self.running: Attempt | None = None
        self._line: deque[Attempt] = deque()
        self._timeline = timeline
        self._done = done

    def take(self, attempt: Attempt) -> None:
        """Work on an attempt, or let it wait; a dead node does not answer."""
        attempt.node = self
        if self.dead:
            return
        self._line.append(attempt)
        if self.running is None:
            self._next()

    def stop(self) -> float:
        """Stop, by death or because the job is over; return the work done on an unfinished
        attempt.
        """
        self.dead = True
        self._line.clear()
        attempt, self.running = self.running, None
        if attempt is None:
            return 0.0
        spent = self._timeline.now - attempt.began
        self.busy += spent
        return spent * self.speed

    def _next(self) -> None:
        attempt = self.running = self._line.popleft()
        attempt.began = now = self._timeline.now
        self._timeline.at(now + attempt.work / self.speed, self._end, attempt)

    def _end(self, attempt: Attempt) -> None:
        if attempt is not self.running:  # the node died meanwhile
            return
        self.busy += self._timeline.now - attempt.began
        self.running = None
        if self._line:
            self._next()
        self._done(attempt)


@dataclass(slots=True)
class Outcome:
    """How a job ended."""

    makespan: float = 0.0
    delivered: int = 0  # units, each counted once
    lost: float = 0.0  # work that was done, but not used
    messages: int = 0
    used: float = 0.0  # share of the work that the nodes could do while they lived
