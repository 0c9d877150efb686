"""RetryBudget: limits retries to a share of the recent requests.

When workers fail, each retry is one more request for the remaining workers: three attempts at every
request would triple an overload. So retries are limited to a share of the requests of the last
seconds, plus a few per second, so that a single client still gets its second attempt.
"""

from __future__ import annotations

WINDOW = 5.0  # seconds; the present window and the one before it count
MINIMUM = 10  # retries per second that are always allowed


class RetryBudget:
    """Counts requests and retries in two windows. A request costs one addition, by the caller; all
    other work is done only when a retry is wanted."""

    __slots__ = ("_before", "_began", "_retries", "_share", "requests", "spent")

    def __init__(self, share: float, now: float) -> None:
        self._share = share  # retries per request, 0…1
        self._began = now  # the beginning of the present window
        self._before = (0.0, 0.0)  # requests and retries of the last window
        self._retries = 0.0
        self.requests = 0.0
        self.spent = 0  # retries since the start

    def spend(self, now: float) -> bool:
        """Take one retry from the budget; return False if none is left."""
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
        # If the window was open for longer than WINDOW, its counts are scaled down to WINDOW.
        part = WINDOW / elapsed
        self._before = (self.requests * part, self._retries * part)
        self._began = now
        self.requests = self._retries = 0.0
