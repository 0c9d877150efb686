"""Units that expire at a certain time."""

from __future__ import annotations

from collections.abc import Container
from heapq import heappop, heappush
from math import inf


class Expiry:
    """Unit numbers, ordered by the time at which they expire."""

    def __init__(self) -> None:
        self._heap: list[tuple[float, int]] = []

    def add(self, until: float, number: int) -> None:
        """Let this unit expire at this time."""
        heappush(self._heap, (until, number))

    def due(self, now: float) -> list[int]:
        """Take out and return the units whose time has come."""
        numbers = []
        while self._heap and self._heap[0][0] <= now:
            numbers.append(heappop(self._heap)[1])
        return numbers

    def next(self, open_units: Container[int]) -> float:
        """When the next unit expires, among those that have not ended."""
        while self._heap and self._heap[0][1] not in open_units:
            heappop(self._heap)
        return self._heap[0][0] if self._heap else inf
