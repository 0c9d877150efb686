"""Traffic: requests that arrive one after the other; each is handed to a worker."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from steelyard.lab.timeline import Timeline
from steelyard.lab.worker import Request, Worker


class Traffic:
    """So many requests; `gap` draws the time between two of them, `work` the work of one."""

    def __init__(
        self,
        timeline: Timeline,
        requests: int,
        *,
        gap: Callable[[], float],
        work: Callable[[], float],
        pick: Callable[[], Worker],
    ) -> None:
        self._timeline = timeline
        self._left = requests
        self._gap = gap
        self._work = work
        self.pick = pick  # may be replaced, as a balancer replaces its selector

    def begin(self) -> None:
        """Plan the first request; each plans the next."""
        if self._left:
            self._timeline.at(self._timeline.now + self._gap(), self._arrive, None)

    @property
    def over(self) -> bool:
        return not self._left

    def _arrive(self, _: None) -> None:
        self._left -= 1
        self.pick().take(Request(self._timeline.now, self._work()))
        self.begin()


class Journal:
    """Waiting times and times in system, in the order in which requests ended."""

    def __init__(self) -> None:
        self._waits: list[float] = []
        self._times: list[float] = []

    def note(self, request: Request) -> None:
        """Note a request that has ended."""
        self._waits.append(request.began - request.came)
        self._times.append(request.ended - request.came)

    def waits(self, warm_up: float = 0.0) -> NDArray[np.float64]:
        """Seconds of waiting. The first share of the requests is left out, as the start is not
        typical.
        """
        return _after(self._waits, warm_up)

    def times(self, warm_up: float = 0.0) -> NDArray[np.float64]:
        """Seconds of waiting and work."""
        return _after(self._times, warm_up)


def _after(values: list[float], warm_up: float) -> NDArray[np.float64]:
    return np.asarray(values[int(len(values) * warm_up) :])
