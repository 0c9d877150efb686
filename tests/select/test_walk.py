"""The step of every ring, in Python or C."""

from __future__ import annotations

import pytest

from steelyard.select.walk import Walk


def test_slots_come_in_turn_for_ever() -> None:
    """Slots come in the given order, and again from the first."""
    walk = Walk(iter("abcd"))
    assert "".join(walk.pick() for _ in range(10)) == "abcdabcdab"


def test_later_changes_of_what_it_was_made_of_do_not_matter() -> None:
    """A walk copies its slots, so later changes of the list do not matter."""
    slots = ["a", "b"]
    walk = Walk(slots)
    assert (walk.pick(), walk.pick()) == ("a", "b")
    slots.clear()
    assert (walk.pick(), walk.pick()) == ("a", "b")


def test_one_that_was_never_made_is_an_error() -> None:
    """A walk without `__init__` raises an error, and does not crash in C."""
    with pytest.raises((AttributeError, TypeError)):
        Walk.__new__(Walk).pick()
