"""Consistent hash: a key always leads to the same member, and most keys stay when members change.

Karger et al. 1997; with bounded loads (Mirrokni, Thorup, Zadimoghaddam 2016): a member that has
`BOUND` times its share in flight passes the key on to the next one on the circle.
"""

from __future__ import annotations

import random
from bisect import bisect
from collections.abc import Sequence
from hashlib import blake2b
from itertools import chain, islice
from math import ceil
from typing import Generic

from steelyard.select.base import M, entitled

BOUND = 1.25
# The number of points of the heaviest member on the circle: shares are off by about 1/√points.
POINTS = 128
SMALL = 4096  # points of a single member; halved with every doubling of the fleet, down to POINTS


class ConsistentHash(Generic[M]):
    """Picks the member that a key belongs to: O(log n), and O(n) to see how busy all are.

    A member's place depends on its name alone, never on the generator: several balancers agree.

    >>> from types import SimpleNamespace as Member
    >>> members = [Member(name=name, inflight=0) for name in "abc"]
    >>> selector = ConsistentHash(members, [1, 1, 1])
    >>> selector.pick(b"client 7") is selector.pick(b"client 7")
    True
    """

    __slots__ = ("_circle", "_members", "_owners", "_shares")

    def __init__(
        self, members: Sequence[M], weights: Sequence[float], _rng: random.Random | None = None
    ) -> None:
        pairs = entitled(members, weights)
        self._members = [member for member, _ in pairs]
        whole = sum(weight for _, weight in pairs)
        self._shares = [BOUND * weight / whole for _, weight in pairs]
        points = sorted(_points(pairs))
        self._circle = [point for point, _ in points]
        self._owners = [owner for _, owner in points]

    def pick(self, key: bytes) -> M:
        """The first member on the circle after the key that is below its bound."""
        open_now = 1 + sum(member.inflight for member in self._members)
        at = bisect(self._circle, _place(key))
        for owner in chain(islice(self._owners, at, None), self._owners):
            member = self._members[owner]
            if member.inflight < ceil(self._shares[owner] * open_now):
                return member
        return self._members[self._owners[at - 1]]  # the counts changed while we looked


def _points(pairs: list[tuple[M, float]]) -> list[tuple[int, int]]:
    """The points of all members. More weight adds points after a member's first ones: no other
    point moves.
    """
    most = max(POINTS, SMALL >> len(pairs).bit_length())
    return [
        (_place(f"{member.name}#{number}".encode()), owner)
        for owner, (member, weight) in enumerate(pairs)
        for number in range(ceil(most * weight))
    ]


def _place(data: bytes) -> int:
    # Python's own `hash` differs from process to process.
    return int.from_bytes(blake2b(data, digest_size=8).digest(), "big")
