"""Locked random: one generator for all threads, behind a lock (seed 001, the baseline)."""

from __future__ import annotations

import random
import threading
from collections.abc import Sequence
from typing import Generic, TypeVar

from steelyard.select.base import entitled, generator

T = TypeVar("T")


class LockedRandom(Generic[T]):
    """Picks any member with equal chance. It uses weights only to leave out members with 0.

    >>> LockedRandom(["a", "b"], [1, 0], random.Random(1)).pick()
    'a'
    """

    __slots__ = ("_lock", "_members", "_rng")

    def __init__(
        self, members: Sequence[T], weights: Sequence[float], rng: random.Random | None = None
    ) -> None:
        self._members = [member for member, _ in entitled(members, weights)]
        self._rng = generator(rng)
        self._lock = threading.Lock()

    def pick(self) -> T:
        """Any member."""
        with self._lock:
            return self._rng.choice(self._members)
