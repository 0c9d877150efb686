"""The parts that all policies share."""

from __future__ import annotations

from steelyard.core.scaling.base import Dwell, View, held


def test_dwell_counts_from_the_first_moment_a_condition_holds():
    """The dwell time starts again after a break."""
    dwell = Dwell()
    assert [dwell.observe(c, t) for t, c in enumerate([True, True, False, True, True])] == [
        0,
        1,
        0,
        0,
        1,
    ]


def test_the_mean_of_nothing_is_no_load():
    """A fleet without a serving worker is not overloaded."""
    assert View(now=0, workers=1, booting=1, min=1, max=2).mean == 0


def test_held_says_so():
    """A verdict that was held back changes nothing."""
    assert (held("cooldown").change, held("cooldown").reason) == (0, "held: cooldown")
