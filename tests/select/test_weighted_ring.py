"""The promises of the weighted ring; those of every selector are in tests/laws."""

from __future__ import annotations

import random
from collections import Counter

from steelyard.select import WeightedRing


def test_one_round_is_exact() -> None:
    """A whole round gives each member exactly its slots."""
    ring = WeightedRing(["a", "b"], [3.0, 1.0], random.Random(0), size=8)
    assert Counter(ring.pick() for _ in range(ring.size)) == {"a": 6, "b": 2}


def test_rounds_repeat() -> None:
    """After the last slot comes the first."""
    ring = WeightedRing(["a", "b", "c"], [1.0, 2.0, 3.0], random.Random(0))
    first = [ring.pick() for _ in range(ring.size)]
    assert [ring.pick() for _ in range(ring.size)] == first


def test_repr_says_the_size() -> None:
    """A ring in a log line says how large it is."""
    assert repr(WeightedRing(["a"], [1.0], random.Random(0), size=8)) == "WeightedRing(8 slots)"
