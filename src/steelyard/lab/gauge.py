"""What a request costs at a worker of the lab, by the shipped gauges, for policies by time."""

from __future__ import annotations

from collections.abc import Callable
from typing import Protocol

from steelyard.select import pace, peak, trust


class Costly(Protocol):
    """A worker whose cost is measured."""

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
    """The gauge that this policy needs; None if it needs no costs."""
    made = _GAUGES.get(policy)
    return made() if made else None


class _Pace:
    """The gauge for `shortest_wait`. A balancer also lets the pace of a worker fade that gets no
    requests; at the steady loads of the lab every worker gets some soon.
    """

    def __init__(self) -> None:
        self._seen: dict[Costly, tuple[int, float]] = {}

    def __call__(self, request: Answered) -> None:
        worker, now = request.worker, request.ended
        answers, last = self._seen.get(worker, (0, 0.0))
        believed = trust(answers, now - last)
        worker.cost = pace(worker.cost, now - request.came, request.joined, believed)
        self._seen[worker] = (answers + 1, now)


class _Peak:
    """The gauge for `peak_ewma`."""

    def __init__(self) -> None:
        self._last: dict[Costly, float] = {}

    def __call__(self, request: Answered) -> None:
        worker, now = request.worker, request.ended
        worker.cost = peak(worker.cost, now - request.came, now - self._last.get(worker, now))
        self._last[worker] = now


_GAUGES: dict[str, Callable[[], Gauge]] = {"shortest_wait": _Pace, "peak_ewma": _Peak}
