"""RetryBudget: how many retries the recent traffic allows.

When workers fail, each retry is a request more for those that are left: three tries of everything
turn an overload into three. So retries are a share of the requests of the last seconds, and a few
per second, so that a single client is not refused its second try.
"""

from __future__ import annotations

WINDOW = 5.0  # seconds; the present one and the one before count
MINIMUM = 10  # retries per second that are always allowed


class RetryBudget:
    """Counts requests and retries in two windows. A request costs one addition, by its caller:
    all else is done when somebody wants a retry."""

    __slots__ = ("_before", "_began", "_retries", "_share", "requests", "spent")

    def __init__(self, share: float, now: float) -> None:
        self._share = share  # of requests, 0…1
        self._began = now  # of the present window
        self._before = (0.0, 0.0)  # requests and retries of the last window
        self._retries = 0.0
        self.requests = 0.0
        self.spent = 0  # retries, ever

    def spend(self, now: float) -> bool:
        """Take one retry; False when there is none left."""
        self._roll(now)
        requests, retries = self._before
        allowed = self._share * (requests + self.requests) + MINIMUM * WINDOW
        if retries + self._retries + 1 > allowed:
            return False
        self._retries += 1
        self.spent += 1
        return True

    def _roll(self, now: float) -> None:
        elapsed = now - self._began
        if elapsed < WINDOW:
            return
        # Of a window that nobody closed in time, as much counts as fits into a window.
        part = WINDOW / elapsed
        self._before = (self.requests * part, self._retries * part)
        self._began = now
        self.requests = self._retries = 0.0
