"""Playbooks of units that no node will run."""

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
    """The reason lists what the nodes serve; while there is no node at all, nothing is refused."""
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
    assert told.reason == "no node serves other:f; the nodes that are there serve m:f"


def test_the_wait_for_a_node_that_serves_a_function_begins_anew() -> None:
    """The wait begins anew when all nodes were gone, because more may come back."""
    play = Play("a")
    play.do(Submitted((Task(1, "other:f", b"", Rules()),)))
    play.do(NodeGone("a"))
    assert play.desk.wakeup == inf
    play.now += 2 * unserved.PATIENCE
    assert play.do(NodeAppeared("a", OFFER)) == []
    assert play.desk.wakeup == play.now + unserved.PATIENCE


def test_units_do_not_wait_for_those_with_whom_we_cannot_work() -> None:
    """Units are refused with the reason, unless that node goes, or another one comes."""
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
