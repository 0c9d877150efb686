"""Ejection: excludes a worker that fails again and again from the choice for a while.

Ejection uses only failures that the balancer itself sees, so it works without the agent. A few
failures in a row eject a worker. After a back-off, which doubles with each ejection, one trial
request goes to the worker. If the trial succeeds, the worker is in again; if it fails, the worker
is out for longer. At most half of the fleet is out: when all workers fail, the cause is probably
not the workers.

    in ──failures──► out ──back-off──► trial ──success──► in
                      ▲                  │
                      └──── failure ─────┘
"""

from __future__ import annotations

from collections.abc import Collection


class Record:
    """The failures of one worker. For a worker without failures, callers check only `strikes`."""

    __slots__ = ("backoff", "strikes", "trial", "until")

    def __init__(self) -> None:
        self.strikes = 0  # failures since the last success
        self.until = 0.0  # the end of the ejection; 0: not ejected
        self.backoff = 0.0  # seconds of the present or last ejection
        self.trial = False  # a trial request was let through

    def __repr__(self) -> str:
        return f"Record({self.strikes} strikes, {'out' if self.until else 'in'})"


class Ejector:
    """Decides which workers are ejected. The caller passes the time."""

    def __init__(self, after: int | None, first: float, longest: float) -> None:
        self._after = after  # failures in a row that eject a worker; None: no ejection
        self._first = first
        self._longest = longest
        self._out: set[Record] = set()
        self._most = 0

    def fleet(self, records: Collection[Record]) -> None:
        """Set the records of all present workers. If too many of them are out, readmit the workers
        whose ejection would end first."""
        self._out.intersection_update(records)
        self._most = len(records) // 2
        for record in sorted(self._out, key=lambda record: record.until):
            if len(self._out) > self._most:
                self.succeeded(record)

    def failed(self, record: Record, now: float) -> bool:
        """Count a failed request; return True if it ejects the worker, or ejects it again."""
        record.strikes += 1
        if record.until:
            # Requests that began before the ejection do not count, only the trial does.
            return record.trial and self._eject(record, now)
        if self._after is None or record.strikes < self._after or len(self._out) >= self._most:
            return False
        return self._eject(record, now)

    def succeeded(self, record: Record) -> None:
        """Clear the record: the worker gave a complete answer."""
        self._out.discard(record)
        record.strikes = 0
        record.until = record.backoff = 0.0
        record.trial = False

    def admits(self, record: Record, now: float) -> bool:
        """Whether a request may go to the worker. After the back-off one request may, as the trial.
        If the trial brings no result, the next trial may begin after the same back-off."""
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
