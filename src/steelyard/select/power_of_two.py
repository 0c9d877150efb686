"""Power of two choices: draw two by weight, take the less busy one (Mitzenmacher 1996)."""

from __future__ import annotations

import random
from collections.abc import Callable, Sequence
from typing import Generic

from steelyard.select.alias import AliasTable
from steelyard.select.base import B, entitled, generator, per_weight


class PowerOfTwo(Generic[B]):
    """Picks, of two random members, the one with fewer requests in flight per weight, counting the
    new one. Both may be the same member, as in the literature (balls with replacement).

    >>> from types import SimpleNamespace as Member
    >>> idle, busy = Member(inflight=0), Member(inflight=9)
    >>> selector = PowerOfTwo([idle, busy], [1, 1], random.Random(1))
    >>> sum(selector.pick() is idle for _ in range(100)) > 60
    True
    """

    __slots__ = ("_draw",)

    _draw: Callable[[], tuple[B, float]]

    def __init__(
        self, members: Sequence[B], weights: Sequence[float], rng: random.Random | None = None
    ) -> None:
        pairs = entitled(members, weights)
        slots = [(member, per_weight(weight)) for member, weight in pairs]
        self._draw = AliasTable(slots, [weight for _, weight in pairs], generator(rng)).draw

    def pick(self) -> B:
        """The less busy of two random members."""
        first, one = self._draw()
        second, other = self._draw()
        if (first.inflight + 1) * one <= (second.inflight + 1) * other:
            return first
        return second
