"""From weights to a ring: the shuffled sequence of slots that a selector walks.

All arithmetic is done here, once, when weights change; picking is then a step along a list (seed
001: do the heavy lifting up front).
"""

from __future__ import annotations

import random
from collections.abc import Sequence
from itertools import chain, repeat
from math import inf
from typing import TypeVar

from steelyard.select.base import SelectError, check_weights
from steelyard.select.shuffle import shuffle

T = TypeVar("T")

# A share is off by at most one slot. With 16 slots per member that is a sixteenth of the average
# share; small rings get more, so that three members are off by two hundredths rather than six.
PER_MEMBER = 16
SMALLEST = 64
FEW = 32  # members; for so many, trying some more sizes takes less than a millisecond


def default_size(members: int) -> int:
    """About max(64, 16·n), rounded up to a multiple of n so that equal weights share equally."""
    return members * max(PER_MEMBER, -(-SMALLEST // members))


def fitting_size(weights: Sequence[float]) -> int:
    """For few members, the size from the default on that gives the truest shares.

    Weights of 100, 50, 25 and 5 fit into 72 slots exactly; in 64 the smallest is off by an eighth.
    """
    size, total = default_size(len(weights)), sum(weights)
    if len(weights) > FEW or not 0 < total < inf:
        return size
    shares = [weight / total for weight in weights if weight / total > 0]
    return min(range(size, size + SMALLEST), key=lambda slots: _misfit(shares, slots))


def apportion(weights: Sequence[float], size: int) -> list[int]:
    """How many of `size` slots each weight gets, by largest remainder; each weight above 0 gets one
    at least.

    A weight too small for a whole slot gets one, and the others divide the rest. If there are more
    weights above 0 than slots, the ring grows to one slot each. If all weights are 0, shares are
    equal.
    """
    check_weights(weights)
    if not any(weights):
        weights = [1.0] * len(weights)
    heaviest = max(weights)
    scaled = [weight / heaviest for weight in weights]  # the sum of huge weights would overflow
    rest = [index for index, weight in enumerate(weights) if weight > 0]
    slots = [0] * len(weights)
    left = max(size, len(rest))
    while True:
        total = sum([scaled[index] for index in rest])
        small = [index for index in rest if scaled[index] * left < total]
        if not small:
            break
        for index in small:
            slots[index] = 1
        left -= len(small)
        rest = [index for index in rest if not slots[index]]
    if rest:
        _largest_remainder(slots, scaled, rest, left)
    return slots


def build_ring(
    members: Sequence[T], weights: Sequence[float], rng: random.Random, size: int | None = None
) -> list[T]:
    """The slots in shuffled order; the same seed gives the same ring."""
    if len(members) != len(weights):
        raise SelectError(f"{len(members)} members but {len(weights)} weights")
    check_weights(weights)
    shares = apportion(weights, fitting_size(weights) if size is None else size)
    slots = list(chain.from_iterable(map(repeat, members, shares)))
    shuffle(slots, rng)
    return slots


def _misfit(shares: Sequence[float], slots: int) -> float:
    """The largest relative error of a share with so many slots. It is rounded, or noise would
    decide.
    """
    worst = 0.0
    for share in shares:
        quota = share * slots
        off = abs((int(quota + 0.5) or 1) - quota) / quota
        if off > worst:
            worst = off
    return round(worst, 9)


def _largest_remainder(
    slots: list[int], scaled: Sequence[float], rest: Sequence[int], left: int
) -> None:
    """Divide `left` slots among the members in `rest`: first whole slots, then one more for those
    with the largest remainders.
    """
    total = sum([scaled[index] for index in rest])
    missing = [0.0] * len(slots)
    for index in rest:
        quota = scaled[index] * left / total
        slots[index] = whole = int(quota)
        missing[index] = whole - quota
    spare = left - sum([slots[index] for index in rest])
    for index in sorted(rest, key=missing.__getitem__)[:spare]:
        slots[index] += 1
