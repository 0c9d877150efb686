"""What a worker of the lab costs, by the shipped gauges, for the policies that go by time."""

from __future__ import annotations

from collections.abc import Callable
from typing import Protocol

from steelyard.select import pace, peak, trust


class Costly(Protocol):
    """Who is measured."""

    cost: float


class Answered(Protocol):
    """A request that has ended."""

    came: float
    ended: float
    joined: int

    @property
    def worker(self) -> Costly: ...


Gauge = Callable[[Answered], None]


def gauge_for(policy: str) -> Gauge | None:
    """How this policy has its costs kept; None when it asks for none."""
    made = _GAUGES.get(policy)
    return made() if made else None


class _Pace:
    """For `shortest_wait`. A balancer also lets the pace of who is left alone fade; at the steady
    loads of the lab nobody is left alone for long."""

    def __init__(self) -> None:
        self._seen: dict[Costly, tuple[int, float]] = {}

    def __call__(self, request: Answered) -> None:
        worker, now = request.worker, request.ended
        answers, last = self._seen.get(worker, (0, 0.0))
        believed = trust(answers, now - last)
        worker.cost = pace(worker.cost, now - request.came, request.joined, believed)
        self._seen[worker] = (answers + 1, now)


class _Peak:
    """For `peak_ewma`."""

    def __init__(self) -> None:
        self._last: dict[Costly, float] = {}

    def __call__(self, request: Answered) -> None:
        worker, now = request.worker, request.ended
        worker.cost = peak(worker.cost, now - request.came, now - self._last.get(worker, now))
        self._last[worker] = now


_GAUGES: dict[str, Callable[[], Gauge]] = {"shortest_wait": _Pace, "peak_ewma": _Peak}
