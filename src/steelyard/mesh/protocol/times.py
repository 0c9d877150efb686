"""How long recent units took."""

from __future__ import annotations

from bisect import bisect_left, insort
from collections import deque
from math import inf

WINDOW = 64


class Times:
    """The run times of the last WINDOW units, in seconds.

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
        """Add the run time of one more unit."""
        if len(self._recent) == WINDOW:
            del self._sorted[bisect_left(self._sorted, self._recent.popleft())]
        self._recent.append(seconds)
        insort(self._sorted, seconds)

    @property
    def median(self) -> float:
        """The median run time; infinite before the first unit."""
        return self._sorted[len(self._sorted) // 2] if self._sorted else inf
