"""Reconciliation: what really runs against what is remembered, in both directions."""

from __future__ import annotations

from typing import NamedTuple

from steelyard.core.events import Found, Reconciled
from steelyard.core.record import WorkerRecord
from steelyard.core.roster import Roster
from steelyard.core.worker import Worker


class Differences(NamedTuple):
    """What has to be put right."""

    stale: list[str]  # records without a running worker
    unknown: list[tuple[Found, WorkerRecord | None]]  # running, but not in the fleet
    gone: list[Worker]  # in the fleet, but not running: their end was missed
    late: list[str]  # running, though the fleet took them for ended: nobody else will stop them


def differences(event: Reconciled, roster: Roster) -> Differences:
    """Compare; workers that started after the list was read are not missing from it."""
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
