"""Thread-local random: each thread has a generator of its own, so none waits (seed 001)."""

from __future__ import annotations

import random
import threading
from collections.abc import Sequence
from typing import Generic, TypeVar

from steelyard.select.base import entitled, generator

T = TypeVar("T")


class ThreadLocalRandom(Generic[T]):
    """Picks any member with equal chance. It uses weights only to leave out members with 0.

    >>> ThreadLocalRandom(["a", "b"], [0, 1], random.Random(1)).pick()
    'b'
    """

    __slots__ = ("_local", "_members", "_rng")

    def __init__(
        self, members: Sequence[T], weights: Sequence[float], rng: random.Random | None = None
    ) -> None:
        self._members = [member for member, _ in entitled(members, weights)]
        self._rng = generator(rng)
        self._local = threading.local()

    def pick(self) -> T:
        """Any member."""
        try:
            rng: random.Random = self._local.rng
        except AttributeError:
            rng = self._local.rng = self._seeded()
        return rng.choice(self._members)

    def _seeded(self) -> random.Random:
        # `getrandbits` is one C call: two threads never get the same seed.
        return random.Random(self._rng.getrandbits(64))
