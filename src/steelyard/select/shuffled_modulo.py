"""Shuffled modulo: shuffle once, then count and take the remainder (seed 001)."""

from __future__ import annotations

import random
from collections.abc import Sequence
from itertools import count
from typing import Generic, TypeVar

from steelyard.select.base import entitled, generator

T = TypeVar("T")


class ShuffledModulo(Generic[T]):
    """Picks members in turn, in a random order. It uses weights only to leave out members with 0.

    >>> selector = ShuffledModulo(["a", "b", "c"], [1, 1, 1], random.Random(1))
    >>> sorted(selector.pick() for _ in range(3))
    ['a', 'b', 'c']
    """

    __slots__ = ("_members", "_next", "_size")

    def __init__(
        self, members: Sequence[T], weights: Sequence[float], rng: random.Random | None = None
    ) -> None:
        self._members = [member for member, _ in entitled(members, weights)]
        generator(rng).shuffle(self._members)
        self._size = len(self._members)
        self._next = count().__next__  # one C call, so no two threads get the same number

    def pick(self) -> T:
        """The next member."""
        return self._members[self._next() % self._size]
