"""Slow start: a new worker's weight rises, while its caches fill and its code warms up."""

from __future__ import annotations

from collections.abc import Hashable, Set
from typing import Generic, TypeVar

T = TypeVar("T", bound=Hashable)

FIRST = 0.1  # of the weight, at once: a worker that gets nothing never warms up
STEPS = 20  # a selector is made anew for each


def ramp(age: float, seconds: float) -> float:
    """The part of its weight that a worker of this age has, in steps."""
    if age >= seconds:
        return 1.0
    return FIRST + (1 - FIRST) * int(STEPS * age / seconds) / STEPS


class SlowStart(Generic[T]):
    """Remembers who came when.

    While a fleet boots its workers come one by one, and all are new: nobody is spared who comes
    within the time of a slow start after the first.
    """

    def __init__(self, seconds: float) -> None:
        self._seconds = seconds
        self._first: float | None = None
        self._since: dict[T, float] = {}

    def enter(self, present: Set[T], now: float) -> None:
        """These are there now; who leaves and comes back is new again."""
        if self._first is None and present:
            self._first = now
        booting = self._first is None or now - self._first < self._seconds
        since = now - self._seconds if booting else now
        self._since = {one: self._since.get(one, since) for one in present}

    def factor(self, one: T, now: float) -> float:
        """What its weight is to be multiplied with."""
        return ramp(now - self._since[one], self._seconds)
