"""The contract of a store, and what it keeps: one record per worker, and the run-time limits.

Stores raise StoreError when they cannot be reached; the agent then goes on from memory and
writes again when the store is back.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

from steelyard.core.commands import Change
from steelyard.core.record import LimitsRecord, WorkerRecord


class Store(Protocol):
    """Keeps the records of one application."""

    url: str

    async def open(self) -> None:
        """Connect, create what is missing."""

    async def close(self) -> None:
        """Let go; records stay."""

    async def workers(self) -> list[WorkerRecord]:
        """Every record of this application, by name."""

    async def limits(self) -> LimitsRecord | None:
        """The limits set at run time, if any were."""

    async def write(self, changes: Sequence[Change]) -> None:
        """Make these changes in order, all or none of them.

        A record is written whole and replaces the one with its key; a worker that is not there is
        already forgotten.
        """
