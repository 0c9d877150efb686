"""Slow start: raises a new worker's weight while its caches fill and its code warms up."""

from __future__ import annotations

from collections.abc import Hashable, Set
from typing import Generic, TypeVar

T = TypeVar("T", bound=Hashable)

FIRST = 0.1  # share of the weight at the start: a worker without requests never warms up
STEPS = 20  # a new selector is made for each step


def ramp(age: float, seconds: float) -> float:
    """Return the share of its weight that a worker of this age has; the share rises in steps."""
    if age >= seconds:
        return 1.0
    return FIRST + (1 - FIRST) * int(STEPS * age / seconds) / STEPS


class SlowStart(Generic[T]):
    """Remembers when each worker appeared.

    Only the ratio of weights matters. In the first table all workers are new, so all have the same
    factor. In a fleet whose workers boot one after the other, the first ones get only a little more
    than the others.
    """

    def __init__(self, seconds: float) -> None:
        self._seconds = seconds
        self._since: dict[T, float] = {}

    def enter(self, present: Set[T], now: float) -> None:
        """Set the workers that are present; a worker that leaves and comes back is new again."""
        self._since = {one: self._since.get(one, now) for one in present}

    def factor(self, one: T, now: float) -> float:
        """Return the factor of a worker's weight."""
        return ramp(now - self._since[one], self._seconds)
