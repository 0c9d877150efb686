"""Playbooks of units that take long: which node tries them as well, and when."""

from __future__ import annotations

from steelyard.mesh.execution.outcome import Kind
from steelyard.mesh.protocol import hedging
from steelyard.mesh.protocol.desk_events import (
    Command,
    NodeAppeared,
    NodeGone,
    Stop,
    Tick,
)
from steelyard.mesh.protocol.lifecycle import State
from steelyard.mesh.protocol.messages import Offer
from tests.mesh.protocol.desk_play import OFFER, VALUE, Play, ends, grants


def overdue(play: Play, **rules: object) -> list[Command]:
    """Three units took a second each; a fourth has been at node a for four, and b is idle."""
    play.submit(1, 2, 3)
    play.submit(4, **rules)
    for number in (1, 2, 3):
        play.pull("a", results=[(number - 1, VALUE)] if number > 1 else [])
        play.now += 1.0
    play.pull("a", results=[(3, VALUE)])
    play.pull("b")
    assert (play.desk.wakeup == play.now + 3.0) is (not rules)
    play.now += 4.0
    return play.do(Tick())


def test_an_overdue_unit_is_given_to_a_second_node() -> None:
    """A copy goes out after three times the median, and the first result stops the other copy."""
    play = Play("ab")
    assert grants(overdue(play)) == {5: [4]}
    commands = play.pull("b", results=[(4, VALUE)])
    assert ends(commands) == {4: State.DONE}
    assert Stop("a", (4,)) in commands


def test_some_units_are_never_hedged() -> None:
    """A unit is not hedged if its rules forbid it, or if it has only one try left."""
    assert overdue(Play("ab"), hedge=False) == []
    assert overdue(Play("ab"), retries=0) == []


def test_of_short_units_none_is_overdue_at_once() -> None:
    """A short unit is not overdue at once, because small delays are the machine's noise."""
    play = Play("ab")
    play.submit(1, 2, 3, 4)
    for number in (1, 2, 3):
        play.pull("a")
        play.pull("a", want=0, results=[(number, VALUE)], seconds=0.0001)
    play.pull("a")
    play.pull("b")
    assert play.desk.wakeup == play.now + hedging.SHORTEST


def test_no_copy_where_a_unit_did_harm() -> None:
    """A unit is not copied to a node where it hurt a child, but another node may have it."""
    play = Play("abc")
    play.submit(1, 2, 3, 4)
    for number in (1, 2, 3):
        play.pull("a")
        play.pull("a", want=0, results=[(number, VALUE)], seconds=0.1)
    play.pull("a")
    play.pull("a", want=0, results=[(4, Kind.CRASHED)])
    assert grants(play.pull("b")) == {play.query: [4]}
    play.now += 1.0
    assert not any(grants(play.pull("a")).values())
    assert grants(play.pull("c")) == {play.query: [4]}


def test_no_third_copy_and_none_on_the_same_node() -> None:
    """A unit has at most two copies, on two different nodes, if all are equally fast."""
    play = Play("abc")
    overdue(play)
    play.now += 100.0
    assert play.pull("c") == []
    assert play.desk.wakeup == float("inf")


def hedged_twice(play: Play, **rules: object) -> None:
    """Unit 9 is overdue at nodes a and b, which take a second; c, d and e were faster before."""
    play.submit(*range(10), **rules)
    seconds = {"a": 1.0, "b": 1.0, "c": 0.1, "d": 0.12, "e": 0.5}
    for number, node in enumerate("aabbccdde"):
        play.pull(node)
        play.pull(node, want=0, results=[(number, VALUE)], seconds=seconds[node])
    play.pull("a")
    play.now += 100.0
    assert grants(play.pull("b")) == {play.query: [9]}


def test_a_third_copy_is_for_one_of_the_fastest_nodes() -> None:
    """Exactly one of the fastest nodes gets the third copy."""
    play = Play("abcde")
    hedged_twice(play, retries=9)
    assert play.pull("e") == []
    assert grants(play.pull("d")) == {play.query: [9]}
    assert play.pull("c") == []


def test_fast_is_who_is_faster_than_those_that_are_there() -> None:
    """Speed is compared among the nodes that are there; a node that comes back keeps its speed."""
    play = Play("abcde")
    hedged_twice(play)
    play.pull("e")
    play.do(NodeAppeared("d", OFFER))
    play.do(NodeGone("c"))
    assert play.do(Tick()) == []
    play.do(NodeGone("d"))
    assert play.desk.wakeup <= play.now
    assert grants(play.do(Tick())) == {play.query: [9]}


def test_who_no_longer_serves_what_it_has_is_not_the_fastest() -> None:
    """A node that no longer serves a function does not count among its fastest."""
    play = Play("abc")
    play.submit(1, 2, 3)
    for number in (1, 2, 3):
        play.pull("a")
        play.pull("a", results=[(number, VALUE)], want=0)
    play.submit(4)
    play.pull("a")
    play.now = 100.0
    assert grants(play.pull("b"))[play.query] == [4]
    for name in "abc":
        play.do(NodeAppeared(name, Offer(1, frozenset({"other:f"}))))
    play.now = 200.0
    assert play.pull("c") == []


def test_a_third_copy_is_a_try() -> None:
    """A third copy counts as a try, because all copies may still hurt their children."""
    play = Play("abcde")
    hedged_twice(play, retries=1)
    assert play.pull("c") == []
