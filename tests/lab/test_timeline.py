"""Virtual time."""

from __future__ import annotations

import pytest

from steelyard.lab.timeline import Timeline


def test_events_of_one_moment_happen_as_planned():
    """Events of one moment happen in the order of planning, not by their arguments."""
    timeline, seen = Timeline(), []
    for what in "cab":
        timeline.at(1.0, seen.append, what)
    timeline.run()
    assert "".join(seen) == "cab"


def test_an_event_may_plan_the_next():
    """An event may plan the next one, and sees its own time."""
    timeline, seen = Timeline(), []

    def happen(left: int) -> None:
        seen.append(timeline.now)
        if left:
            timeline.at(timeline.now + 0.5, happen, left - 1)

    timeline.at(1.0, happen, 3)
    timeline.run(until=2.0)
    assert seen == [1.0, 1.5, 2.0]
    timeline.run()
    assert seen[-1] == 2.5


def test_the_past_is_over():
    """Planning an event in the past is a bug of the caller."""
    timeline = Timeline()
    timeline.at(2.0, lambda _: timeline.at(1.0, print, None), None)
    with pytest.raises(ValueError, match="in the past"):
        timeline.run()
