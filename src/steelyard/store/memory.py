"""A store that forgets everything with the program."""

from __future__ import annotations

from collections.abc import Sequence

from steelyard.core.commands import Change, Forget, Save, SaveLimits
from steelyard.core.record import LimitsRecord, WorkerRecord, record_key


class MemoryStore:
    """Keeps the records of one application in a dict."""

    url = "memory:"

    def __init__(self, application: str) -> None:
        self._application = application
        self._workers: dict[str, WorkerRecord] = {}
        self._limits: LimitsRecord | None = None

    async def open(self) -> None:
        """Nothing to connect to."""

    async def close(self) -> None:
        """Nothing to let go of."""

    async def workers(self) -> list[WorkerRecord]:
        """Every record, by name."""
        return sorted(self._workers.values(), key=lambda record: record.name)

    async def limits(self) -> LimitsRecord | None:
        """The limits set at run time, if any were."""
        return self._limits

    async def write(self, changes: Sequence[Change]) -> None:
        """Make these changes in order."""
        for change in changes:
            match change:
                case Save(record):
                    self._workers[record.key] = record
                case Forget(name):
                    self._workers.pop(record_key(self._application, name), None)
                case SaveLimits(limits):
                    self._limits = limits
