"""Playbooks of nodes that leave."""

from __future__ import annotations

import pytest

from steelyard.mesh.protocol.crew_events import (
    Granted,
    LeaveAsked,
    Left,
    PullFailed,
    Recall,
    Recalled,
)
from steelyard.mesh.protocol.messages import Grant, Order
from tests.mesh.protocol.crew_play import Play, asks


def test_leaving_gives_back_what_waits_and_finishes_what_runs() -> None:
    """A node that leaves ends when its last results have arrived."""
    play = Play()
    play.grant("c", 1, 2, 3)
    (pull,) = asks(play.do(LeaveAsked()))
    assert (pull.want, pull.holding) == (0, (1,))
    play.grant("c")
    (pull,) = asks(play.end())
    assert [one.number for one in pull.results] == [1]
    assert play.grant("c") == [Left()]


def test_leaving_gives_back_what_a_child_has_ahead() -> None:
    """A node that leaves gives back the units that its children have not begun."""
    play = Play()
    play.grant("c", 1)
    play.end(seconds=0.001)
    play.grant("c", 2, 3, 4)
    commands = play.do(LeaveAsked())
    assert Recall() in commands
    (pull,) = asks(play.do(Recalled(tuple(sorted(play.crew.tickets)[1:]))))
    assert (pull.want, pull.holding) == (0, (2,))


@pytest.mark.parametrize("when", ["it rests", "the pull is lost", "a grant crosses it"])
def test_who_is_given_back_is_told(when: str) -> None:
    """A client learns which units were given back while another client's unit keeps the
    node busy.
    """
    play = Play(clients="ab")
    play.grant("b", 1)
    play.crew.customers["a"].mean = 0.001
    play.grant("a", 10, 11, 12, more=False)
    first = play.asked["a"].serial
    if when == "it rests":
        play.do(PullFailed("a", first))
    ahead = tuple(sorted(play.crew.tickets)[1:])
    play.do(LeaveAsked())
    play.do(Recalled(ahead))
    if when == "the pull is lost":
        play.do(PullFailed("a", play.asked["a"].serial))
    elif when == "a grant crosses it":
        play.grant("a")
        play.asked.pop("a")
        play.do(Granted("a", first, Grant((Order(20, "m:f", b""),), more=True)))
    else:
        play.asked.pop("a")
    if when != "a grant crosses it":
        play.wait()
    assert play.asked["a"].holding == ()
