"""MinimumRate: whether a body moves fast enough; made only when `gateway.body_rate` is set.

A pause limit alone lets a client hold a worker for hours with a byte now and then. Bytes are
counted over periods: while it is the client's turn, each period must see its share of bytes. Times
in which the client could not move, because a worker was slow, do not count: the period begins anew.
"""

from __future__ import annotations

from math import inf

PERIOD = 5.0  # seconds; also the grace before a body is judged at all


class MinimumRate:
    """The present period of one client."""

    __slots__ = ("_bytes", "_end", "_least")

    def __init__(self, rate: int) -> None:
        self._least = rate * PERIOD
        self._bytes = 0
        self._end = inf

    def begin(self, now: float) -> None:
        """It is the client's turn from now on."""
        self._end = now + PERIOD
        self._bytes = 0

    def moved(self, count: int) -> None:
        """Count bytes that moved, in either direction."""
        self._bytes += count

    def bound(self, limit: float) -> float:
        """The end of the present period, or the limit if that is earlier."""
        return min(limit, self._end)

    def kept(self, now: float) -> bool:
        """Whether a period is over and had its share of bytes; then the next one has begun."""
        if now < self._end or self._bytes < self._least:
            return False
        self.begin(now)
        return True
