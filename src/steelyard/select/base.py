"""What every selector has in common: its shape, what it may know of a member, and its errors.

A selector is made of members, their weights and a random generator (its own, unless picks are to be
repeatable), and is never changed: new weights make a new selector, which is swapped in by one
assignment while other threads pick (`live`). What is measured (a `Node`) is apart from how it is
chosen (a `Selector`).
"""

from __future__ import annotations

import random
from collections.abc import Sequence
from math import isfinite
from typing import Protocol, TypeVar

T = TypeVar("T")
T_co = TypeVar("T_co", covariant=True)


class SelectError(ValueError):
    """Nothing can be picked from these members and weights."""


class Selector(Protocol[T_co]):
    """Picks one of its members; from any thread."""

    def pick(self) -> T_co: ...


class KeyedSelector(Protocol[T_co]):
    """Picks the member that a key belongs to; from any thread."""

    def pick(self, key: bytes) -> T_co: ...


class Busy(Protocol):
    """A member that knows how many requests it has in flight."""

    @property
    def inflight(self) -> int: ...


class Node(Busy, Protocol):
    """A member that also knows its `cost`: seconds, or 0 when nothing is known.

    The policy says what the seconds mean; `gauges` calculates them.
    """

    @property
    def cost(self) -> float: ...


class Named(Busy, Protocol):
    """A member with a name of its own."""

    @property
    def name(self) -> str: ...


B = TypeVar("B", bound=Busy)
M = TypeVar("M", bound=Named)
N = TypeVar("N", bound=Node)


def check_weights(weights: Sequence[float]) -> None:
    """Raise SelectError unless there are weights, each of them a finite number from 0 on."""
    if not weights:
        raise SelectError("a selector needs at least one member")
    for weight in weights:
        if not isfinite(weight) or weight < 0:
            raise SelectError(f"a weight must be a finite number from 0 on, not {weight!r}")


def entitled(members: Sequence[T], weights: Sequence[float]) -> list[tuple[T, float]]:
    """The members that can be picked, with weights of at most 1.

    A member with weight 0 gets nothing, unless all weights are 0: then all members are equal.
    Weights are divided by the largest, because the sum of huge ones would overflow.
    """
    if len(members) != len(weights):
        raise SelectError(f"{len(members)} members but {len(weights)} weights")
    check_weights(weights)
    heaviest = max(weights)
    if not heaviest:
        return [(member, 1.0) for member in members]
    pairs = zip(members, weights, strict=True)
    return [(member, weight / heaviest) for member, weight in pairs if weight > 0]


def per_weight(weight: float) -> float:
    """The load that one request adds to a member of this weight.

    Loads are multiplied with this number, never divided by the weight.
    """
    return 1.0 / max(weight, 1e-300)  # the smallest weights have no finite inverse


def generator(rng: random.Random | None) -> random.Random:
    """The given random generator, or a new one."""
    return random.Random() if rng is None else rng
