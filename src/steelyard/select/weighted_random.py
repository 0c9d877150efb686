"""Weighted random: each pick is an independent draw (seed 000), in O(1) by the alias method."""

from __future__ import annotations

import random
from collections.abc import Callable, Sequence
from typing import Generic, TypeVar

from steelyard.select.alias import AliasTable
from steelyard.select.base import generator

T = TypeVar("T")


class WeightedRandom(Generic[T]):
    """Picks members in proportion to their weights, each pick independent of the others.

    `random.random` is one C call, so threads may share the generator.

    >>> selector = WeightedRandom(["a", "b"], [9, 1], random.Random(1))
    >>> sum(selector.pick() == "a" for _ in range(1000)) in range(870, 930)
    True
    """

    __slots__ = ("pick",)

    pick: Callable[[], T]

    def __init__(
        self, members: Sequence[T], weights: Sequence[float], rng: random.Random | None = None
    ) -> None:
        self.pick = AliasTable(members, weights, generator(rng)).draw
