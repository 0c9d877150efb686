"""Playbooks of units that some nodes must not get: they hurt a child there, or are not
known there.
"""

from __future__ import annotations

from math import inf

from steelyard.mesh.execution.outcome import Kind
from steelyard.mesh.protocol import unserved
from steelyard.mesh.protocol.desk_events import (
    Dropped,
    NodeAppeared,
    NodeGone,
    Reply,
    Submitted,
    Tick,
)
from steelyard.mesh.protocol.lifecycle import State
from steelyard.mesh.protocol.messages import Grant, Offer, Order
from steelyard.mesh.protocol.task import Rules, Task
from tests.mesh.protocol.desk_play import OFFER, VALUE, Play, ends, grants


def test_a_unit_that_hurts_is_quarantined_after_its_tries() -> None:
    """A unit has one more try than it has retries."""
    play = Play("ab")
    play.submit(1, retries=1)
    play.pull("a")
    for _ in range(2):
        play.pull("a", want=0, results=[(1, Kind.CRASHED)], run=1)
    assert grants(play.pull("b")) == {4: [1]}
    assert ends(play.pull("b", results=[(1, Kind.HUNG)])) == {1: State.QUARANTINED}


def test_a_crash_that_is_told_twice_counts_once() -> None:
    """A crash that is reported twice counts once, but the next crash at the same node
    counts again.
    """
    play = Play()
    play.submit(1, retries=1)
    play.pull("a")
    play.pull("a", results=[(1, Kind.CRASHED)], run=1)
    assert ends(play.pull("a", results=[(1, Kind.CRASHED)], run=1)) == {}
    assert play.desk.entries[1].hurts == 1
    assert ends(play.pull("a", results=[(1, Kind.CRASHED)], run=2)) == {1: State.QUARANTINED}


def test_a_crash_counts_though_its_node_was_given_up() -> None:
    """A crash counts although its node was given up, because it did hurt a child."""
    play = Play("ab")
    play.submit(1, retries=0)
    play.pull("a")
    play.do(NodeGone("a"))
    play.do(NodeAppeared("a", OFFER))
    assert ends(play.pull("a", results=[(1, Kind.CRASHED)])) == {1: State.QUARANTINED}


def test_a_unit_that_hurt_is_tried_at_another_node() -> None:
    """A unit that hurt a child goes to another node first, as the first node may be broken."""
    play = Play("abc")
    play.submit(1, retries=9)
    play.pull("a")
    assert play.pull("a", results=[(1, Kind.CRASHED)]) == []
    assert grants(play.pull("b")) == {3: [1]}
    assert play.pull("b", results=[(1, Kind.CRASHED)]) == []
    # It has hurt a child at every node that is left.
    assert grants(play.do(NodeGone("c"))) == {2: [1]}


def test_a_unit_that_hurt_is_tried_again_at_once_where_there_is_nobody_else() -> None:
    """A unit that hurt a child goes back to the same node at once if there is no other."""
    play = Play("a")
    play.submit(1, retries=9)
    play.pull("a")
    assert grants(play.pull("a", results=[(1, Kind.CRASHED)])) == {2: [1]}


def test_a_unit_that_hurt_does_not_wait_for_ever_for_another_node() -> None:
    """A unit that hurt a child goes back to the same node after a while if the others stay busy."""
    play = Play("ab")
    play.submit(1, retries=9)
    play.pull("a")
    assert play.pull("a", results=[(1, Kind.CRASHED)]) == []
    assert play.desk.wakeup == play.now + unserved.PATIENCE
    play.now += unserved.PATIENCE
    assert grants(play.do(Tick())) == {2: [1]}


def test_who_may_not_have_a_unit_is_not_told_of_it() -> None:
    """A node is not told of work that it must not have, or it would ask again and again."""
    play = Play("ab")
    play.submit(1, 2)
    play.pull("a", want=2)
    play.pull("a", want=0, holding=[2], results=[(1, Kind.CRASHED)])
    assert play.do(Tick()) == []
    assert grants(play.pull("b")) == {3: [1]}


def test_what_a_node_avoids_does_not_keep_others_from_it() -> None:
    """A node that must not get one unit still gets others, of any function that it serves."""
    play = Play("abc")
    play.submit(1, retries=9)
    play.pull("a")
    assert play.pull("a", results=[(1, Kind.CRASHED)]) == []
    assert grants(play.pull("b")) == {3: [1]}
    assert grants(play.submit(2)) == {2: [2]}
    play.pull("b", results=[(1, Kind.CRASHED)])
    play.do(NodeAppeared("a", Offer(1, frozenset({"m:g"}))))
    play.pull("a", holding=[2])
    assert grants(play.do(Submitted((Task(3, "m:g", b"", Rules()),)))) == {5: [3]}


def test_what_is_withheld_from_a_node_is_counted() -> None:
    """The number of units that a node may have is right as units come, go and are refused."""
    play = Play("ab")
    play.submit(1, 2, 3, 4)
    play.pull("a", want=2)
    play.pull("b", want=1)
    assert play.pull("a", want=2, park=False, results=[(1, Kind.UNKNOWN)], holding=[2]) == [
        Reply(3, Grant((Order(4, "m:f", b""),), more=False))
    ]
    assert grants(play.pull("b", results=[(3, VALUE)])) == {4: [1]}
    play.do(NodeGone("b"))
    assert play.pull("a", holding=[2, 4], park=False) == [Reply(5, Grant())]
    play.do(NodeAppeared("b", OFFER))
    play.do(Dropped((1,)))
    play.submit(5)
    assert grants(play.pull("a", holding=[2, 4])) == {6: [5]}


def test_a_function_that_a_node_does_not_know_is_tried_elsewhere() -> None:
    """A unit that one node does not know goes to another, and is refused when none is left."""
    play = Play("ab")
    play.submit(1)
    play.pull("a")
    play.pull("b")
    assert grants(play.pull("a", results=[(1, Kind.UNKNOWN)])) == {2: [1]}
    assert ends(play.pull("b", results=[(1, Kind.UNKNOWN)])) == {1: State.REFUSED}


def test_a_unit_is_refused_when_the_last_node_that_might_know_it_goes() -> None:
    """When the last node that might know a unit goes, the unit waits a while before it is
    refused.
    """
    play = Play("ab")
    play.submit(1)
    play.pull("a")
    play.pull("a", results=[(1, Kind.UNKNOWN)])
    play.pull("b")
    play.do(NodeGone("b"))
    assert play.desk.wakeup == play.now + unserved.PATIENCE
    play.do(NodeAppeared("b", OFFER))
    play.now += unserved.PATIENCE / 2
    play.do(NodeGone("b"))
    play.now += unserved.PATIENCE / 2
    assert ends(play.do(Tick())) == {}
    play.do(NodeAppeared("b", OFFER))
    play.now += unserved.PATIENCE
    assert ends(play.do(Tick())) == {}
    play.do(NodeGone("b"))
    play.now += unserved.PATIENCE
    assert ends(play.do(Tick())) == {1: State.REFUSED}


def test_a_unit_that_has_ended_is_not_refused_later() -> None:
    """A unit that has ended is forgotten, and not refused later."""
    play = Play("abc")
    play.submit(1, retries=9)
    play.pull("a")
    play.pull("a", results=[(1, Kind.CRASHED)])
    play.pull("b")
    play.pull("b", results=[(1, Kind.UNKNOWN)])
    play.pull("c", results=[(1, Kind.UNKNOWN)])
    play.do(NodeGone("a"))
    assert ends(play.do(Dropped((1,)))) == {1: State.CANCELLED}
    assert play.desk.wakeup == inf
