"""Ejection: a worker that fails again and again is left alone for a while.

This is what a balancer sees for itself, so that it heals without its agent: a few failures in a
row take a worker out of this balancer's picks; after a back-off that doubles with each time, one
request is let through. If that succeeds the worker is back, if not it is out for longer. Never
more than half of the fleet is out: when everything fails, the fault is not the workers'.

    in ──failures──► out ──back-off──► trial ──success──► in
                      ▲                  │
                      └──── failure ─────┘
"""

from __future__ import annotations

from collections.abc import Collection


class Record:
    """One worker's conduct. `strikes` is 0 for a good one, so that is all a good one costs."""

    __slots__ = ("backoff", "strikes", "trial", "until")

    def __init__(self) -> None:
        self.strikes = 0  # failures since the last success
        self.until = 0.0  # out until then; 0: in
        self.backoff = 0.0  # the one that is served, or was last
        self.trial = False  # one request is on its way, or was

    def __repr__(self) -> str:
        return f"Record({self.strikes} strikes, {'out' if self.until else 'in'})"


class Ejector:
    """Decides who is out. Time is handed in."""

    def __init__(self, after: int | None, first: float, longest: float) -> None:
        self._after = after  # failures in a row; None: nobody is ever ejected
        self._first = first
        self._longest = longest
        self._out: set[Record] = set()
        self._most = 0

    def fleet(self, records: Collection[Record]) -> None:
        """These are the workers there are; when too many of them are out, the first to have come
        back anyway come back now."""
        self._out.intersection_update(records)
        self._most = len(records) // 2
        for record in sorted(self._out, key=lambda record: record.until):
            if len(self._out) > self._most:
                self.succeeded(record)

    def failed(self, record: Record, now: float) -> bool:
        """A request came to nothing; True when the worker is out from now on, or on."""
        record.strikes += 1
        if record.until:
            # Of several that were under way when it was ejected, only the trial counts.
            return record.trial and self._eject(record, now)
        if self._after is None or record.strikes < self._after or len(self._out) >= self._most:
            return False
        return self._eject(record, now)

    def succeeded(self, record: Record) -> None:
        """A whole answer: all is forgotten."""
        self._out.discard(record)
        record.strikes = 0
        record.until = record.backoff = 0.0
        record.trial = False

    def admits(self, record: Record, now: float) -> bool:
        """Whether a request may go there. After the back-off one may, and takes the trial with it;
        if nothing is heard of that one, another after as long again."""
        if not record.until:
            return True
        if now < record.until:
            return False
        record.trial = True
        record.until = now + record.backoff
        return True

    def _eject(self, record: Record, now: float) -> bool:
        record.backoff = min(self._longest, 2 * record.backoff or self._first)
        record.until = now + record.backoff
        record.trial = False
        self._out.add(record)
        return True
