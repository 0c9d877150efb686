"""The contract of a store, and what it keeps: one record per worker, the run-time limits, and the
lease that tells which of several agents leads.

Stores raise StoreError when they cannot be reached; the agent then goes on from memory and
writes again when the store is back.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

from steelyard.core.commands import Change
from steelyard.core.record import LimitsRecord, WorkerRecord
from steelyard.errors import StoreError


class LeaseError(StoreError):
    """A change by an agent that does not lead, or not any more."""

    def __init__(self, holder: str) -> None:
        super().__init__(
            f"{holder} has no lease, so it may not write",
            hint="another agent leads, or the store was emptied; the next claim settles it",
        )


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

    async def write(self, changes: Sequence[Change], holder: str = "") -> None:
        """Make these changes in order, as one: nobody sees half of them.

        A record is written whole and replaces the one with its key; a worker that is not there is
        already forgotten. With a holder they are made only while it has the lease, and refused
        with a StoreError otherwise.
        """

    async def claim(self, holder: str, seconds: float) -> str:
        """Ask for the lease, or to have it longer: for so many seconds from now. Who has it then.

        It is granted when nobody else has it. No two agents may use one holder.
        """

    async def release(self, holder: str) -> None:
        """Give the lease back, if this holder has it."""
