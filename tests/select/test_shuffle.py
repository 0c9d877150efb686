"""Fisher–Yates with all numbers drawn at once, in Python or C."""

from __future__ import annotations

import random
from collections import Counter

import pytest

from steelyard.select.shuffle import shuffle


def shuffled(text: str, rng: random.Random) -> str:
    slots = list(text)
    shuffle(slots, rng)
    return "".join(slots)


def test_the_same_seed_gives_the_same_order_compiled_or_not() -> None:
    """The order is the same on all machines that store the lowest byte first."""
    assert shuffled("abcdefghij", random.Random(1)) == "dchjaeigfb"


def test_every_order_is_as_likely() -> None:
    """Each of the 24 orders of four slots is within four standard deviations of its share."""
    rng, runs = random.Random(5), 24_000
    seen = Counter(shuffled("abcd", rng) for _ in range(runs))
    assert len(seen) == 24
    assert all(count == pytest.approx(1000, abs=4 * 31) for count in seen.values())


@pytest.mark.parametrize("text", ["", "a"])
def test_nothing_to_shuffle(text: str) -> None:
    """No slots or one slot stay as they are."""
    assert shuffled(text, random.Random(1)) == text
