"""The publication: which queue the balancers should have now, and its version."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from steelyard.core.lifecycle import State
from steelyard.core.queue import Entry, Queue
from steelyard.core.weight import published
from steelyard.core.worker import Worker


@dataclass(slots=True)
class Publication:
    """Counts versions: a new one for each queue that differs from the one before."""

    application: str
    epoch: str
    queue: Queue | None = None

    @property
    def next_version(self) -> int:
        """The version that a change made now will have."""
        return 0 if self.queue is None else self.queue.version + 1

    def renew(self, workers: Iterable[Worker]) -> bool:
        """Make the queue true again; tell whether it changed."""
        entries = tuple(sorted(map(entry, filter(listed, workers)), key=best_first))
        if self.queue is not None and self.queue.workers == entries:
            return False
        self.queue = Queue(
            application=self.application,
            epoch=self.epoch,
            version=self.next_version,
            workers=entries,
        )
        return True


def listed(worker: Worker) -> bool:
    """Balancers know of every worker that may hold an exchange of theirs."""
    return worker.serving or (worker.state is State.SUNDOWN and worker.started)


def entry(worker: Worker) -> Entry:
    """A worker's line."""
    return Entry(
        name=worker.name,
        host=worker.host,
        port=worker.port,
        score=round(worker.meter.score, 1),
        state=worker.state,
        weight=published(worker.weight) if worker.in_ring else 0.0,
    )


def best_first(line: Entry) -> tuple[float, str]:
    return (-line.score, line.name)
