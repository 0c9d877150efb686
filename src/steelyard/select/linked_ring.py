"""Linked ring: shuffled members, each knowing the next; a pick follows one link (seed 001)."""

from __future__ import annotations

import random
from collections.abc import Sequence
from typing import Generic, TypeVar

from steelyard.select.base import entitled, generator

T = TypeVar("T")


class _Link(Generic[T]):
    __slots__ = ("member", "next")

    def __init__(self, member: T) -> None:
        self.member = member
        self.next = self


class LinkedRing(Generic[T]):
    """Picks members in turn, in a random order. It uses weights only to leave out members with 0.

    As in the article there is no lock: two threads that step at the same moment may take the same
    member. No member is lost by that, and the shares stay right.

    >>> selector = LinkedRing(["a", "b", "c"], [1, 1, 1], random.Random(1))
    >>> sorted(selector.pick() for _ in range(3))
    ['a', 'b', 'c']
    """

    __slots__ = ("_at",)

    def __init__(
        self, members: Sequence[T], weights: Sequence[float], rng: random.Random | None = None
    ) -> None:
        links = [_Link(member) for member, _ in entitled(members, weights)]
        generator(rng).shuffle(links)
        for number, link in enumerate(links):
            link.next = links[number - len(links) + 1]
        self._at = links[0]

    def pick(self) -> T:
        """The next member."""
        self._at = link = self._at.next
        return link.member
