"""AccessLog: notes of finished requests, kept until another thread writes them down.

To note a request is to append one tuple to a bounded deque; control/access_log_writer.py formats
and writes. When the writer falls behind, notes are dropped and counted: clients do not wait for a
disk.
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
    """The data thread adds notes; the writer's thread takes them."""

    __slots__ = ("_notes", "dropped", "reopen")

    def __init__(self) -> None:
        self._notes: deque[Note] = deque()
        self.dropped = 0
        self.reopen = False  # the file was moved away

    def note(self, note: Note) -> None:
        """Keep a note, if there is room."""
        if len(self._notes) < MOST:
            self._notes.append(note)
        else:
            self.dropped += 1

    def take(self, most: int) -> list[Note]:
        """Remove and return the oldest notes."""
        return [self._notes.popleft() for _ in range(min(most, len(self._notes)))]
