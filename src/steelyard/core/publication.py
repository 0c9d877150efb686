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
    """One worker; sorted, the best come first."""

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
    _lines: list[Line] | None = None  # of the queue: compared at every event, and cheaper to

    @property
    def next_version(self) -> int:
        """The version that a change made now will have."""
        return 0 if self.queue is None else self.queue.version + 1

    def renew(self, workers: Iterable[Worker]) -> bool:
        """Make the queue true again; tell whether it changed."""
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
    """Balancers know of every worker that may hold an exchange of theirs, to its very end: of one
    that is named no longer they expect nothing any more."""
    return worker.serving or (worker.state in LEAVING and worker.started)


def line(worker: Worker) -> Line:
    """What the queue says of a worker."""
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
    """The same, as balancers get it."""
    return Entry(
        name=told.name,
        host=told.host,
        port=told.port,
        score=-told.minus_score,
        state=told.state,
        weight=told.weight,
        closing=told.closing,
    )
