"""The ledger: which record the store should hold for each worker, and which it already does."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import NamedTuple

from steelyard.core.lifecycle import State
from steelyard.core.record import WorkerRecord
from steelyard.core.worker import Worker


class Facts(NamedTuple):
    """What may change in a worker's record."""

    state: State
    score: float
    host: str
    port: int
    default: bool


@dataclass(slots=True)
class Ledger:
    """Turns workers into records, and tells only those that changed."""

    application: str
    source: str
    written: dict[str, Facts] = field(default_factory=dict)

    def changed(self, worker: Worker, *, default: bool) -> WorkerRecord | None:
        """The record to write for a worker; None when the one that is written is true."""
        facts = Facts(worker.state, round(worker.meter.score), worker.host, worker.port, default)
        if self.written.get(worker.name) == facts:  # asked for each worker at every event
            return None
        self.written[worker.name] = facts
        return WorkerRecord(
            application=self.application,
            name=worker.name,
            source=self.source,
            sequence=worker.sequence,
            **facts._asdict(),
        )

    def forget(self, name: str) -> None:
        self.written.pop(name, None)
