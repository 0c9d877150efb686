"""A store in memory: its records end with the program."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence

from steelyard.core.commands import Change, Forget, Save, SaveLimits
from steelyard.core.record import LimitsRecord, WorkerRecord, record_key
from steelyard.store.base import LeaseError


class MemoryStore:
    """Keeps the records of one application in a dict."""

    url = "memory:"

    def __init__(self, application: str, clock: Callable[[], float] = time.monotonic) -> None:
        self._application = application
        self._workers: dict[str, WorkerRecord] = {}
        self._limits: LimitsRecord | None = None
        self._clock = clock
        self._lease = ("", 0.0)  # the holder, and until when

    async def open(self) -> None:
        """Do nothing: there is no connection."""

    async def close(self) -> None:
        """Do nothing: there is no connection."""

    async def workers(self) -> list[WorkerRecord]:
        """Every record, in the order of their names."""
        return sorted(self._workers.values(), key=lambda record: record.name)

    async def limits(self) -> LimitsRecord | None:
        """The limits set at run time, if any were."""
        return self._limits

    async def write(self, changes: Sequence[Change], holder: str = "") -> None:
        """Make these changes in order."""
        if holder and self._leader() != holder:
            raise LeaseError(holder)
        for change in changes:
            match change:
                case Save(record):
                    self._workers[record.key] = record
                case Forget(name):
                    self._workers.pop(record_key(self._application, name), None)
                case SaveLimits(limits):
                    self._limits = limits

    async def claim(self, holder: str, seconds: float) -> str:
        """Ask for the lease; return its holder after that."""
        if self._leader() in {"", holder}:
            self._lease = (holder, self._clock() + seconds)
        return self._leader()

    async def release(self, holder: str) -> None:
        """Give the lease back, if this holder has it."""
        if self._leader() == holder:
            self._lease = ("", 0.0)

    def _leader(self) -> str:
        holder, until = self._lease
        return holder if self._clock() < until else ""
