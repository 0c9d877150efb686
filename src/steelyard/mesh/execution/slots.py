"""What each child is at, in memory that it shares with its parent.

A child writes before it calls a function, and the parent reads when it wants to know, at the latest
after the child's death: so that it is exact who was running then, and costs no message.
"""

from __future__ import annotations

import mmap
import os
import struct
import time
from enum import IntEnum
from typing import NamedTuple

_SIZE = 64  # a cache line each
_TIME, _WHAT = struct.Struct("<d"), struct.Struct("<QQ")
_WHAT_AT = 8


class Phase(IntEnum):
    """What a child does with the unit of its slot."""

    IDLE = 0
    IMPORTING = 1
    RUNNING = 2


class Slot(NamedTuple):
    """One look at a child. While it lives the parts may be of two moments."""

    ticket: int
    phase: Phase
    since: float  # by the monotonic clock, which all processes of a machine share


class Slots:
    """The slots of all children of a pool."""

    def __init__(self, fd: int) -> None:
        self._memory = mmap.mmap(fd, 0)

    @classmethod
    def create(cls, count: int) -> tuple[Slots, int]:
        """New ones, and the descriptor by which children find them."""
        fd = os.memfd_create("steelyard-slots")
        os.ftruncate(fd, count * _SIZE)
        return cls(fd), fd

    def read(self, child: int) -> Slot:
        """What this child is at, as far as one can see."""
        at = child * _SIZE
        ticket, phase = _WHAT.unpack_from(self._memory, at + _WHAT_AT)
        return Slot(ticket, Phase(phase), _TIME.unpack_from(self._memory, at)[0])

    def write(self, child: int, ticket: int, phase: Phase) -> float:
        """A child says what it is at from now on."""
        now, at = time.monotonic(), child * _SIZE
        # The time first: who reads in between thinks of the last unit that it has just begun.
        _TIME.pack_into(self._memory, at, now)
        _WHAT.pack_into(self._memory, at + _WHAT_AT, ticket, phase)
        return now

    def close(self) -> None:
        """Let go of the memory."""
        self._memory.close()
