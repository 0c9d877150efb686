"""The current unit of each child, in memory that the child shares with its parent.

A child writes its slot before it calls a function. The parent reads the slot when it wants to know,
at the latest after the child's death. So it is known exactly which unit was running then, without a
message.
"""

from __future__ import annotations

import mmap
import os
import struct
import time
from enum import IntEnum
from typing import NamedTuple

_SIZE = 64  # bytes; each slot has a cache line of its own
_TIME, _WHAT = struct.Struct("<d"), struct.Struct("<QQ")
_WHAT_AT = 8


class Phase(IntEnum):
    """What a child does with the unit of its slot."""

    IDLE = 0
    IMPORTING = 1
    RUNNING = 2


class Slot(NamedTuple):
    """One reading of a slot. While the child lives, its parts may be from two moments."""

    ticket: int
    phase: Phase
    since: float  # by the monotonic clock, which all processes of a machine share


class Slots:
    """The slots of all children of a pool."""

    def __init__(self, fd: int) -> None:
        self._memory = mmap.mmap(fd, 0)

    @classmethod
    def create(cls, count: int) -> tuple[Slots, int]:
        """Create the slots, and the descriptor by which children map them."""
        fd = os.memfd_create("steelyard-slots")
        os.ftruncate(fd, count * _SIZE)
        return cls(fd), fd

    def read(self, child: int) -> Slot:
        """The current unit of this child, as last written."""
        at = child * _SIZE
        ticket, phase = _WHAT.unpack_from(self._memory, at + _WHAT_AT)
        return Slot(ticket, Phase(phase), _TIME.unpack_from(self._memory, at)[0])

    def write(self, child: int, ticket: int, phase: Phase) -> float:
        """Record, in a child, the unit that it is about to import or run."""
        now, at = time.monotonic(), child * _SIZE
        # The time is written first: a reader in between sees the old unit with a new time, and so
        # takes it for one that has just begun, not for an overdue one.
        _TIME.pack_into(self._memory, at, now)
        _WHAT.pack_into(self._memory, at + _WHAT_AT, ticket, phase)
        return now

    def close(self) -> None:
        """Release the memory."""
        self._memory.close()
