"""How long units took, of late."""

from __future__ import annotations

from bisect import bisect_left, insort
from collections import deque
from math import inf

WINDOW = 64


class Times:
    """The seconds of the last units.

    >>> times = Times()
    >>> for seconds in (0.1, 7.0, 0.2):
    ...     times.add(seconds)
    >>> times.median, len(times)
    (0.2, 3)
    """

    def __init__(self) -> None:
        self._recent: deque[float] = deque()
        self._sorted: list[float] = []

    def __len__(self) -> int:
        return len(self._sorted)

    def add(self, seconds: float) -> None:
        """One more is back."""
        if len(self._recent) == WINDOW:
            del self._sorted[bisect_left(self._sorted, self._recent.popleft())]
        self._recent.append(seconds)
        insort(self._sorted, seconds)

    @property
    def median(self) -> float:
        """Infinite before the first one."""
        return self._sorted[len(self._sorted) // 2] if self._sorted else inf
