"""Reconciliation: compares the workers that really run with those that are remembered."""

from __future__ import annotations

from typing import NamedTuple

from steelyard.core.events import Found, Reconciled
from steelyard.core.record import WorkerRecord
from steelyard.core.roster import Roster
from steelyard.core.worker import Worker


class Differences(NamedTuple):
    """The workers and records that do not match."""

    stale: list[str]  # names of records without a running worker
    unknown: list[tuple[Found, WorkerRecord | None]]  # workers that run, but not in the fleet
    gone: list[Worker]  # workers of the fleet that do not run: their end was missed
    late: list[str]  # workers that run although the fleet took them for ended: it must stop them


def differences(event: Reconciled, roster: Roster) -> Differences:
    """Compare the fleet with the workers that the event names as running.

    A worker that started after the list was read does not count as gone.
    """
    running = {found.worker for found in event.running}
    records = {record.name: record for record in event.records}
    return Differences(
        stale=sorted(records.keys() - running - roster.by_name.keys()),
        unknown=[(f, records.get(f.worker)) for f in event.running if not roster.knows(f.worker)],
        gone=[
            worker
            for worker in roster
            if worker.started and worker.started_at < event.at and worker.name not in running
        ],
        late=sorted(name for name in running if name in roster.ended),
    )
