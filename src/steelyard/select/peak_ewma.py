"""Peak EWMA: of the next two slots of the ring, take the one with the shorter wait.

As in Finagle, the wait is the recent cost of a request there, times the requests in flight plus the
new one. So it finds slow members although the weights do not show them.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Sequence
from itertools import cycle
from typing import Generic

from steelyard.select.base import N, entitled, generator, per_weight
from steelyard.select.ring import build_ring

# Seconds; a member that has not answered yet is tried first, but not for all requests.
UNKNOWN = 1e-6


class PeakEwma(Generic[N]):
    """Picks, of the next two slots, the member with the smaller `cost · (inflight + 1)` per weight.

    The member keeps its `cost` up to date with `gauges.peak`.

    >>> from types import SimpleNamespace as Member
    >>> fast, slow = Member(inflight=3, cost=0.01), Member(inflight=0, cost=0.2)
    >>> selector = PeakEwma([fast, slow], [1, 1], random.Random(1))
    >>> sum(selector.pick() is fast for _ in range(100)) > 60
    True
    """

    __slots__ = ("_step",)

    _step: Callable[[], tuple[N, float]]

    def __init__(
        self, members: Sequence[N], weights: Sequence[float], rng: random.Random | None = None
    ) -> None:
        pairs = entitled(members, weights)
        slots = [(member, per_weight(weight)) for member, weight in pairs]
        ring = build_ring(slots, [weight for _, weight in pairs], generator(rng))
        self._step = cycle(ring).__next__

    def pick(self) -> N:
        """Of the next two members, the one that is likely to be done first."""
        first, one = self._step()
        second, other = self._step()
        return first if _wait(first, one) <= _wait(second, other) else second


def _wait(member: N, per: float) -> float:
    return (member.cost or UNKNOWN) * (member.inflight + 1) * per
