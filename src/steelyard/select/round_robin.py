"""Round robin: members in turn, by weight. It is smooth: a member's turns are spread over the
round.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Sequence
from typing import Generic, TypeVar

from steelyard.select.base import entitled, generator
from steelyard.select.ring import apportion, default_size
from steelyard.select.walk import Walk

T = TypeVar("T")

GOLDEN = (5**0.5 - 1) / 2


class RoundRobin(Walk, Generic[T]):
    """Picks members in turn, each as often as its weight says.

    nginx finds the next member of its smooth round robin by looking at all of them. The order
    repeats, so here it is calculated once. The first round begins at a random place: many balancers
    that start together must not all turn to the same member.

    >>> turns = RoundRobin(["a", "b"], [3, 1], random.Random(1))
    >>> "aaba" in "".join(turns.pick() for _ in range(8))
    True
    """

    __slots__ = ("size",)

    pick: Callable[[], T]
    size: int  # turns in a round

    def __init__(
        self,
        members: Sequence[T],
        weights: Sequence[float],
        rng: random.Random | None = None,
        size: int | None = None,
    ) -> None:
        pairs = entitled(members, weights)
        turns = round_of([member for member, _ in pairs], [weight for _, weight in pairs], size)
        self.size = len(turns)
        start = generator(rng).randrange(self.size)
        super().__init__(turns[start:] + turns[:start])


def round_of(members: Sequence[T], weights: Sequence[float], size: int | None = None) -> list[T]:
    """A whole round: each member has as many turns as its weight says, spread evenly."""
    shares = apportion(weights, size or default_size(len(members)))
    return _spread(list(zip(members, shares, strict=True)))


def _spread(shares: list[tuple[T, int]]) -> list[T]:
    """Put a member's k-th of s turns into the k-th of s equal parts of a round.

    The place within the part differs from member to member, by the golden ratio: members with equal
    shares would otherwise come in one bunch.
    """
    places = [
        ((turn + index * GOLDEN % 1) / share, index)
        for index, (_, share) in enumerate(shares)
        for turn in range(share)
    ]
    return [shares[index][0] for _, index in sorted(places)]
