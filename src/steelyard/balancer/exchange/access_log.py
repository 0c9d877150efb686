"""AccessLog: what the data thread notes of each request, for another thread to write down.

Noting is one tuple appended to a bounded deque; formatting and writing happen elsewhere
(access_log). When that falls behind, notes are dropped and counted: clients do not wait for a disk.
"""

from __future__ import annotations

from collections import deque
from typing import NamedTuple

from steelyard.balancer.http.heads import RequestHead

MOST = 8192  # notes that may wait: a quarter of a second at 32,000 requests per second

COMPLETE = "complete"
REFUSED = "refused"  # the answer is ours
CUT = "cut"  # the answer broke off
CANCELLED = "cancelled"  # the client went
SWITCHED = "switched"  # to a tunnel, which is noted as it begins
GONE = 499  # nginx's status for a client that went before it was answered


class Note(NamedTuple):
    """One request; times are those of the loop."""

    began: float
    ended: float
    peer: bytes
    head: RequestHead | None  # None: it could not be read
    status: int
    size: int  # of the answer's body, as far as it was sent
    worker: str
    outcome: str


class AccessLog:
    """Written by the data thread, emptied by the writer's."""

    __slots__ = ("_notes", "dropped", "reopen")

    def __init__(self) -> None:
        self._notes: deque[Note] = deque()
        self.dropped = 0
        self.reopen = False  # the file was moved away

    def note(self, note: Note) -> None:
        """Keep it, if there is room."""
        if len(self._notes) < MOST:
            self._notes.append(note)
        else:
            self.dropped += 1

    def take(self, most: int) -> list[Note]:
        """The oldest notes, which are the taker's from now on."""
        return [self._notes.popleft() for _ in range(min(most, len(self._notes)))]
