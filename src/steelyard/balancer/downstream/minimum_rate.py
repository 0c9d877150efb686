"""MinimumRate: checks whether a body moves fast enough; exists only if `gateway.body_rate` is set.

With only a limit on pauses, a client could occupy a worker for hours by sending a byte now and
then. So bytes are counted over periods: while the balancer waits for the client, a minimum number
of bytes must move in each period. Time in which the client could not move bytes because a worker
was slow does not count: a new period begins after it.
"""

from __future__ import annotations

from math import inf

PERIOD = 5.0  # seconds; no body is judged before its first period is over


class MinimumRate:
    """The byte count of one client in the present period."""

    __slots__ = ("_bytes", "_end", "_least")

    def __init__(self, rate: int) -> None:
        self._least = rate * PERIOD
        self._bytes = 0
        self._end = inf

    def begin(self, now: float) -> None:
        """Begin a period: the balancer waits for the client from now on."""
        self._end = now + PERIOD
        self._bytes = 0

    def moved(self, count: int) -> None:
        """Count bytes that moved, in either direction."""
        self._bytes += count

    def bound(self, limit: float) -> float:
        """Return the end of the present period, or `limit` if that is earlier."""
        return min(limit, self._end)

    def kept(self, now: float) -> bool:
        """Return whether the period is over and enough bytes moved; if so, begin the next one."""
        if now < self._end or self._bytes < self._least:
            return False
        self.begin(now)
        return True
