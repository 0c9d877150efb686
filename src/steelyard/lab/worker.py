"""A worker of the lab: one server or several with one waiting line, first come, first served."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Sequence

from steelyard.lab.timeline import Timeline


class Request:
    """One request: when it came, how much work it is, and when it began and ended."""

    __slots__ = ("began", "came", "ended", "joined", "work", "worker")

    worker: Worker
    joined: int  # requests at its worker when it came, itself included

    def __init__(self, came: float, work: float) -> None:
        self.came = came
        self.work = work  # seconds on a server of speed 1
        self.began = self.ended = came


class Worker:
    """A worker with the properties that selectors need: `name`, `inflight` and `cost`."""

    __slots__ = (
        "_done",
        "_free",
        "_line",
        "_timeline",
        "busy",
        "cost",
        "inflight",
        "name",
        "speed",
        "taken",
    )

    def __init__(
        self,
        name: str,
        timeline: Timeline,
        done: Callable[[Request], None],
        *,
        speed: float = 1.0,
        servers: int = 1,
    ) -> None:
        self.name = name
        self.speed = speed
        self.inflight = 0
        self.taken = 0  # requests accepted in total
        self.cost = 0.0  # seconds, as the gauge of the policy calculates them
        # Seconds that its servers have worked, or will work on requests they have begun.
        self.busy = 0.0
        self._timeline = timeline
        self._done = done
        self._free = servers
        self._line: deque[Request] = deque()

    def take(self, request: Request) -> None:
        """Work on a request, or let it wait."""
        self.inflight += 1
        self.taken += 1
        request.worker = self
        request.joined = self.inflight
        if self._free:
            self._free -= 1
            self._begin(request)
        else:
            self._line.append(request)

    def _begin(self, request: Request) -> None:
        request.began = now = self._timeline.now
        seconds = request.work / self.speed
        self.busy += seconds
        self._timeline.at(now + seconds, self._end, request)

    def _end(self, request: Request) -> None:
        request.ended = self._timeline.now
        self.inflight -= 1
        if self._line:
            self._begin(self._line.popleft())
        else:
            self._free += 1
        self._done(request)


def fleet(
    speeds: Sequence[float], timeline: Timeline, done: Callable[[Request], None]
) -> list[Worker]:
    """One worker with one server for each speed."""
    return [
        Worker(f"worker-{number}", timeline, done, speed=speed)
        for number, speed in enumerate(speeds)
    ]
