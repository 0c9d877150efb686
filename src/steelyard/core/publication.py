"""The publication: which queue the balancers should have now, and its version."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import NamedTuple

from steelyard.core.lifecycle import LEAVING, State
from steelyard.core.queue import Entry, Queue
from steelyard.core.weight import published
from steelyard.core.worker import Worker


class Line(NamedTuple):
    """One worker of the queue; sorted lines have the best score first."""

    minus_score: float
    name: str
    host: str
    port: int
    state: State
    weight: float
    closing: bool


@dataclass(slots=True)
class Publication:
    """Counts versions: a new one for each queue that differs from the one before."""

    application: str
    epoch: str
    queue: Queue | None = None
    # The lines of `queue`. They are compared after every event, and tuples compare faster than
    # models.
    _lines: list[Line] | None = None

    @property
    def next_version(self) -> int:
        """The version of the first queue that will show a change made now."""
        return 0 if self.queue is None else self.queue.version + 1

    def renew(self, workers: Iterable[Worker]) -> bool:
        """Bring the queue up to date; return whether it changed."""
        lines = sorted(map(line, filter(listed, workers)))
        if lines == self._lines:
            return False
        self._lines = lines
        self.queue = Queue(
            application=self.application,
            epoch=self.epoch,
            version=self.next_version,
            workers=tuple(map(entry, lines)),
        )
        return True


def listed(worker: Worker) -> bool:
    """Whether the queue names a worker.

    It names every worker that may still have an open exchange, until the worker has ended: a
    balancer expects no answer from a worker that the queue no longer names.
    """
    return worker.serving or (worker.state in LEAVING and worker.started)


def line(worker: Worker) -> Line:
    """The facts of a worker that the queue tells."""
    return Line(
        -round(worker.meter.score, 1),
        worker.name,
        worker.host,
        worker.port,
        worker.state,
        published(worker.weight) if worker.in_ring else 0.0,
        worker.closing,
    )


def entry(told: Line) -> Entry:
    """The entry that balancers get for a line."""
    return Entry(
        name=told.name,
        host=told.host,
        port=told.port,
        score=-told.minus_score,
        state=told.state,
        weight=told.weight,
        closing=told.closing,
    )
