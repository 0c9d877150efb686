"""The contract of a store, and what it keeps: one record per worker, and the run-time limits.

Stores raise StoreError when they cannot be reached; the agent then goes on from memory and
writes again when the store is back.
"""

from __future__ import annotations

from typing import Protocol

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

    async def save(self, record: WorkerRecord) -> None:
        """Write one record whole, replacing the one with its key."""

    async def delete(self, name: str) -> None:
        """Forget a worker; one that is not there is already forgotten."""

    async def limits(self) -> LimitsRecord | None:
        """The limits set at run time, if any were."""

    async def save_limits(self, limits: LimitsRecord) -> None:
        """Keep the limits set at run time."""
