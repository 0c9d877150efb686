"""AccessLog: notes of finished requests, kept until another thread writes them to the log.

Noting a request appends one tuple to a bounded deque; control/access_log_writer.py formats and
writes the notes. When the writer falls behind, new notes are dropped and counted, so that clients
never wait for a disk.
"""

from __future__ import annotations

from collections import deque
from typing import NamedTuple

from steelyard.balancer.http.heads import RequestHead

MOST = 8192  # limit of waiting notes: a quarter of a second at 32,000 requests per second

COMPLETE = "complete"
REFUSED = "refused"  # the balancer itself answered
CUT = "cut"  # the answer ended before it was complete
CANCELLED = "cancelled"  # the client left before it had the whole answer
SWITCHED = "switched"  # the exchange became a tunnel, which is noted when it begins
GONE = 499  # nginx's status for a client that left before it got an answer


class Note(NamedTuple):
    """One finished request. `began` and `ended` are times of the loop's clock."""

    began: float
    ended: float
    peer: bytes
    head: RequestHead | None  # None: the head could not be parsed
    status: int
    size: int  # bytes of the answer's body that were sent
    worker: str
    outcome: str


class AccessLog:
    """A bounded queue: the data thread adds notes, the writer's thread takes them."""

    __slots__ = ("_notes", "dropped", "reopen")

    def __init__(self) -> None:
        self._notes: deque[Note] = deque()
        self.dropped = 0
        self.reopen = False  # the log file was rotated: the writer must open a new file

    def note(self, note: Note) -> None:
        """Add a note, or count it as dropped when the queue is full."""
        if len(self._notes) < MOST:
            self._notes.append(note)
        else:
            self.dropped += 1

    def take(self, most: int) -> list[Note]:
        """Remove and return the oldest notes, at most `most` of them."""
        return [self._notes.popleft() for _ in range(min(most, len(self._notes)))]
