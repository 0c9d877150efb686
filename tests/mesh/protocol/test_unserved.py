"""Playbooks of units that nobody will do."""

from __future__ import annotations

from math import inf

from steelyard.mesh.protocol import unserved
from steelyard.mesh.protocol.desk_events import (
    Deliver,
    NodeAppeared,
    NodeGone,
    Obstructed,
    Submitted,
    Tick,
)
from steelyard.mesh.protocol.lifecycle import State
from steelyard.mesh.protocol.task import Rules, Task
from tests.mesh.protocol.desk_play import OFFER, Play


def test_a_function_that_nobody_serves_is_refused_after_a_while() -> None:
    """And the reason says what is served; with no node at all there is no reason to refuse."""
    play = Play("")
    play.do(Submitted((Task(1, "other:f", b"", Rules()),)))
    play.now = 1000.0
    assert play.do(Tick()) == []
    play.do(NodeAppeared("a", OFFER))
    assert play.desk.wakeup == play.now + unserved.PATIENCE
    play.now = play.desk.wakeup
    (told,) = play.do(Tick())
    assert isinstance(told, Deliver)
    assert told.state is State.REFUSED
    assert told.reason == "no node serves other:f; those that are there serve m:f"


def test_the_wait_for_a_node_that_serves_a_function_begins_anew() -> None:
    """When all nodes were gone: those that come back may not be the last."""
    play = Play("a")
    play.do(Submitted((Task(1, "other:f", b"", Rules()),)))
    play.do(NodeGone("a"))
    assert play.desk.wakeup == inf
    play.now += 2 * unserved.PATIENCE
    assert play.do(NodeAppeared("a", OFFER)) == []
    assert play.desk.wakeup == play.now + unserved.PATIENCE


def test_units_do_not_wait_for_those_with_whom_we_cannot_work() -> None:
    """They are refused with the reason, unless such a node goes, or another one comes."""
    play = Play("")
    play.submit(1)
    play.do(Obstructed("old", "old speaks version 0"))
    play.do(NodeGone("old"))
    play.do(Obstructed("", "our certificate is refused"))
    play.do(NodeAppeared("a", OFFER))
    play.do(NodeGone("a"))
    play.now += unserved.PATIENCE
    assert play.do(Tick()) == []
    play.do(Obstructed("old", "old speaks version 0"))
    play.now += unserved.PATIENCE
    (told,) = play.do(Tick())
    assert isinstance(told, Deliver)
    assert told.state is State.REFUSED
    assert told.reason == "no node serves m:f; old speaks version 0"
