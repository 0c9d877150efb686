"""The ledger: what the store already holds of each worker, to write only records that changed."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import NamedTuple

from steelyard.core.lifecycle import State
from steelyard.core.record import WorkerRecord
from steelyard.core.worker import Worker


class Facts(NamedTuple):
    """The fields of a worker's record that may change."""

    state: State
    score: float
    host: str
    port: int
    default: bool


@dataclass(slots=True)
class Ledger:
    """Turns workers into records, and returns only records that changed."""

    application: str
    source: str
    written: dict[str, Facts] = field(default_factory=dict)

    def changed(self, worker: Worker, *, default: bool) -> WorkerRecord | None:
        """The record to write for a worker; None if the store already has it."""
        facts = Facts(worker.state, round(worker.meter.score), worker.host, worker.port, default)
        # This runs for each worker after every event, so no record is built for the comparison.
        if self.written.get(worker.name) == facts:
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
