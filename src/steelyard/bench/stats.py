"""Statistics of a series of rounds."""

from __future__ import annotations

import statistics
from collections.abc import Sequence


def median(values: Sequence[float]) -> float | None:
    """The median; None if there are no values."""
    return statistics.median(values) if values else None


def spread(values: Sequence[float]) -> float | None:
    """Half the distance of the quartiles over the median: "± 3 %" holds for half of the rounds.

    Unlike a standard deviation, it is not distorted by one disturbed round.
    """
    if len(values) < 2:
        return None
    low, middle, high = statistics.quantiles(values, n=4, method="inclusive")
    return (high - low) / 2 / middle if middle else None


def ratio(ours: float | None, theirs: float | None) -> float | None:
    """Our figure as a multiple of theirs; None if one of them is not known."""
    return ours / theirs if ours is not None and theirs else None


def percentile(values: Sequence[float], percent: float) -> float | None:
    """The smallest value that at least this share of the values does not exceed."""
    if not values:
        return None
    ordered = sorted(values)
    rank = -(-len(ordered) * percent // 100)  # rounded up
    return ordered[max(int(rank), 1) - 1]
