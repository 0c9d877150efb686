"""The contract of a store. It keeps one record per worker, the run-time limits, and the lease that
tells which of several agents leads.

Stores raise StoreError when they cannot be reached; the agent then goes on from memory and writes
again when the store is back.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

from steelyard.core.commands import Change
from steelyard.core.record import LimitsRecord, WorkerRecord
from steelyard.errors import StoreError


class LeaseError(StoreError):
    """An agent that does not lead, or no longer leads, tried to write."""

    def __init__(self, holder: str) -> None:
        super().__init__(
            f"{holder} has no lease, so it may not write",
            hint="another agent leads, or the store was emptied; the next claim settles it",
        )


class Store(Protocol):
    """Keeps the records of one application."""

    url: str

    async def open(self) -> None:
        """Connect, and create tables that are missing."""

    async def close(self) -> None:
        """Close the connection; records stay."""

    async def workers(self) -> list[WorkerRecord]:
        """Every record of this application, in the order of their names."""

    async def limits(self) -> LimitsRecord | None:
        """The limits set at run time, if any were."""

    async def write(self, changes: Sequence[Change], holder: str = "") -> None:
        """Make these changes in order, as one: no reader sees half of them.

        A record is written whole and replaces the one with its key. Forgetting an unknown worker is
        no error. With a holder, changes are made only while it has the lease, and refused with a
        StoreError otherwise.
        """

    async def claim(self, holder: str, seconds: float) -> str:
        """Ask for the lease, or extend it, for so many seconds from now. Return its holder after
        that.

        It is granted unless another holder has it. No two agents may use the same holder.
        """

    async def release(self, holder: str) -> None:
        """Give the lease back, if this holder has it."""
