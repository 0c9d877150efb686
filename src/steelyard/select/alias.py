"""The alias method: it cuts any weights into columns of equal width with two members each, so that
one random number picks in O(1).

Walker 1977; the construction is Vose's, "A linear algorithm for generating random numbers with a
given distribution", IEEE Transactions on Software Engineering 17, 1991.
"""

from __future__ import annotations

import random
from collections.abc import Sequence
from typing import Generic, TypeVar

from steelyard.select.base import entitled

T = TypeVar("T")


class AliasTable(Generic[T]):
    """n columns of equal width; each is shared by a member and the alias that fills it up."""

    __slots__ = ("_columns", "_random", "_size")

    def __init__(self, members: Sequence[T], weights: Sequence[float], rng: random.Random) -> None:
        pairs = entitled(members, weights)
        self._size = len(pairs)
        self._columns = _columns(pairs)
        self._random = rng.random

    def draw(self) -> T:
        """Draw a member with the chance that its weight gives it.

        One random number serves for both steps: its whole part chooses the column, the rest a place
        in it.
        """
        place = self._random() * self._size
        index = int(place)
        member, filled, alias = self._columns[index]
        return member if place - index < filled else alias


def _columns(pairs: list[tuple[T, float]]) -> list[tuple[T, float, T]]:
    mean = sum(weight for _, weight in pairs) / len(pairs)
    heights = [weight / mean for _, weight in pairs]
    columns = [(member, 1.0, member) for member, _ in pairs]
    low = [index for index, height in enumerate(heights) if height < 1]
    high = [index for index, height in enumerate(heights) if height >= 1]
    while low and high:
        small, large = low.pop(), high[-1]
        columns[small] = (pairs[small][0], heights[small], pairs[large][0])
        heights[large] -= 1 - heights[small]
        if heights[large] < 1:
            low.append(high.pop())
    return columns  # the columns left over are full, but for rounding
