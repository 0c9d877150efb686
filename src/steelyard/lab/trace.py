"""A trace: how many requests came, interval by interval."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise

from steelyard.errors import UsageError


@dataclass(frozen=True, slots=True)
class Trace:
    """Interval k is from `edges[k]` to `edges[k + 1]` seconds, and had `counts[k]` requests."""

    name: str
    edges: Sequence[float]
    counts: Sequence[float]

    def __post_init__(self) -> None:
        if not self.counts or sum(self.counts) <= 0:
            raise UsageError(
                f"{self.name} has no requests", hint="a trace needs at least one request"
            )
        if any(count < 0 for count in self.counts):
            raise UsageError(
                f"{self.name} has a negative count", hint="counts are requests: 0 or more"
            )
        if any(after <= before for before, after in pairwise(self.edges)):
            raise UsageError(f"{self.name}: times are not sorted", hint="sort its lines by time")

    @property
    def seconds(self) -> float:
        return self.edges[-1] - self.edges[0]

    @property
    def requests(self) -> float:
        return sum(self.counts)

    @property
    def peak(self) -> float:
        """Requests per second in the busiest interval."""
        return max(rate for _, _, rate in self.intervals())

    def intervals(self) -> Iterator[tuple[float, float, float]]:
        """Yield (begin, end, requests per second) of each interval; the first begins at 0."""
        zero = self.edges[0]
        for (begin, end), count in zip(pairwise(self.edges), self.counts, strict=True):
            yield begin - zero, end - zero, count / (end - begin)

    def between(self, begin: float, end: float) -> Iterator[tuple[float, float, float]]:
        """The parts of intervals between two times, which count from the beginning of the trace."""
        zero = self.edges[0]
        number = max(0, bisect_right(self.edges, begin + zero) - 1)
        while number < len(self.counts) and self.edges[number] - zero < end:
            low, high = self.edges[number] - zero, self.edges[number + 1] - zero
            yield max(low, begin), min(high, end), self.counts[number] / (high - low)
            number += 1

    def scaled(self, factor: float) -> Trace:
        """The same shape with so many times the requests."""
        return Trace(self.name, self.edges, [count * factor for count in self.counts])
