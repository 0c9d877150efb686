"""The ledger: which record the store should hold for each worker, and which it already does."""

from __future__ import annotations

from dataclasses import dataclass, field

from steelyard.core.record import WorkerRecord
from steelyard.core.worker import Worker


@dataclass(slots=True)
class Ledger:
    """Turns workers into records, and tells only those that changed."""

    application: str
    source: str
    written: dict[str, WorkerRecord] = field(default_factory=dict)

    def changed(self, worker: Worker, *, default: bool) -> WorkerRecord | None:
        """The record to write for a worker; None when the one that is written is true."""
        record = WorkerRecord(
            application=self.application,
            name=worker.name,
            state=worker.state,
            score=round(worker.meter.score),
            host=worker.host,
            port=worker.port,
            source=self.source,
            default=default,
            sequence=worker.sequence,
        )
        if self.written.get(worker.name) == record:
            return None
        self.written[worker.name] = record
        return record

    def forget(self, name: str) -> None:
        self.written.pop(name, None)
