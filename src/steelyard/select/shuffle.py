"""Shuffle: Fisher–Yates, as in the standard library, but with all random numbers drawn at once.

Rings of large fleets are shuffled with every queue that the agent publishes. So this is written
twice: where there is a compiler, `shuffle.pyx` exchanges pointers. The same seed gives the same
order, compiled or not.
"""

from __future__ import annotations

import random
from typing import Any


def shuffle(slots: list[Any], rng: random.Random) -> None:
    """Bring the slots into a random order, in place.

    A number of 32 bits chooses one of i places: each has its chance to within i / 2³².

    >>> slots = list("abcdef")
    >>> shuffle(slots, random.Random(1))
    >>> "".join(slots) != "abcdef", "".join(sorted(slots))
    (True, 'abcdef')
    """
    left = len(slots)
    for number in memoryview(rng.randbytes(4 * left)).cast("I"):
        place = number * left >> 32
        left -= 1
        slots[left], slots[place] = slots[place], slots[left]
