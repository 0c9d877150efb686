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

    Weights count relative to each other: in the first table all are new, and nobody is spared; of
    a fleet that boots one worker after the other, those that came first carry little more.
    """

    def __init__(self, seconds: float) -> None:
        self._seconds = seconds
        self._since: dict[T, float] = {}

    def enter(self, present: Set[T], now: float) -> None:
        """These are there now; who leaves and comes back is new again."""
        self._since = {one: self._since.get(one, now) for one in present}

    def factor(self, one: T, now: float) -> float:
        """What its weight is to be multiplied with."""
        return ramp(now - self._since[one], self._seconds)
