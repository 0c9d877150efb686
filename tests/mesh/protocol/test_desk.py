"""Playbooks of a client's side: event in, commands out."""

from __future__ import annotations

from math import inf

from steelyard.mesh.execution.outcome import Kind
from steelyard.mesh.protocol.desk import BULK, LOSSES, STRANGERS
from steelyard.mesh.protocol.desk_events import (
    Call,
    Command,
    Dropped,
    NodeAppeared,
    NodeGone,
    Reply,
    Stop,
    Submitted,
    Tick,
)
from steelyard.mesh.protocol.lifecycle import State
from steelyard.mesh.protocol.messages import Grant, Offer
from steelyard.mesh.protocol.task import Rules, Task
from tests.mesh.protocol.desk_play import OFFER, VALUE, Play, ends, grants


def test_a_pull_that_finds_nothing_waits_and_one_unit_wakes_one_node() -> None:
    """A new unit goes to the pull that waited longest; the others stay parked."""
    play = Play("abc")
    assert play.pull("a") == play.pull("b") == play.pull("c") == []
    assert grants(play.submit(1)) == {1: [1]}
    assert grants(play.submit(2, 3)) == {2: [2], 3: [3]}


def test_a_node_that_cannot_wait_is_told_at_once() -> None:
    """A pull that must not be parked is answered even if there is no work."""
    play = Play()
    assert play.pull("a", park=False) == [Reply(1, Grant())]


def test_who_has_more_children_gets_more_spare_units() -> None:
    """A node gets half of its share in advance: of 16 units 6 for three children, then 1
    for one.
    """
    play = Play("b")
    play.do(NodeAppeared("a", OFFER._replace(procs=3)))
    play.submit(*range(16))
    assert len(grants(play.pull("a", want=50, idle=0))[1]) == 6
    assert len(grants(play.pull("b", want=50, idle=0))[2]) == 1


def test_spare_units_are_given_up_to_so_many_bytes() -> None:
    """A grant holds units for idle children and spare ones up to a number of bytes; the
    rest waits.
    """
    play = Play("ab")
    large = b"x" * (BULK // 2)
    tasks = [Task(number, "m:f", large, Rules()) for number in range(40)]
    play.do(Submitted(tuple(tasks)))
    assert grants(play.pull("a", want=10, idle=3)) == {1: [0, 1, 2]}
    assert grants(play.pull("b", want=10, idle=1)) == {2: [3, 4]}
    assert grants(play.pull("b", want=10, idle=0, holding=[3, 4])) == {3: [5, 6]}
    assert play.desk.todo.total == 33


def test_spare_units_are_given_while_there_are_many() -> None:
    """A node gets todo / 2·workers spare units at most; the last units go to idle children only."""
    play = Play("ab")
    play.submit(*range(20))
    assert grants(play.pull("a", want=50, idle=1)) == {1: [0, 1, 2, 3, 4]}
    assert grants(play.pull("b", want=3, idle=0)) == {2: [5, 6, 7]}
    play.do(Dropped(tuple(range(10, 20))))
    assert play.pull("b", want=3, idle=0, holding=[5, 6, 7]) == [Reply(3, Grant(more=True))]
    assert grants(play.pull("b", want=3, idle=1, holding=[5, 6, 7])) == {4: [8]}


def test_busy_nodes_are_told_that_there_is_work() -> None:
    """A busy node is told that there is work; an idle one gets it at once."""
    for want in (0, 2):
        play = Play("ab")
        play.pull("a", want=want, idle=0)
        assert play.submit(1) == [Reply(1, Grant(more=True))]
        assert grants(play.pull("b")) == {2: [1]}


def test_a_result_ends_its_unit_once() -> None:
    """The second result of a unit is dropped."""
    play = Play("ab")
    play.submit(1)
    play.pull("a")
    assert ends(play.pull("a", results=[(1, VALUE)])) == {1: State.DONE}
    assert ends(play.pull("b", results=[(1, VALUE)])) == {}
    assert play.desk.duplicates == 1


def test_units_of_a_node_that_is_gone_are_the_next() -> None:
    """The units of a node that is gone are put in front of all others, in their old order."""
    play = Play("ab")
    play.submit(*range(8))
    assert grants(play.pull("a", want=3)) == {1: [0, 1, 2]}
    play.do(NodeGone("a"))
    assert grants(play.pull("b", want=8)) == {2: [0, 1, 2, 3, 4, 5, 6, 7]}


def calls(commands: list[Command]) -> list[Call]:
    return [one for one in commands if isinstance(one, Call)]


def test_busy_nodes_are_called_for_what_another_lost() -> None:
    """Busy nodes are called for lost units, the one with the fewest units first."""
    play = Play("abc")
    play.submit(*range(100))
    for node, want in {"a": 9, "b": 4, "c": 3}.items():
        play.pull(node, want=want, idle=0, park=False)
    assert calls(play.do(NodeGone("a"))) == [Call("c", 2), Call("b", 2)]
    assert calls(play.submit(100)) == []  # these nodes were called already
    commands = play.pull("b", want=2, idle=0, holding=[9, 10, 11, 12])
    assert grants(commands) == {4: [0, 1]}
    assert calls(commands) == [Call("b", 1)]
    assert calls(play.pull("c", want=9, idle=0, holding=[13, 14, 15])) == []


def test_nobody_is_called_for_the_last_units_of_a_job() -> None:
    """No busy node is called for the last units, because they are for idle children."""
    play = Play("abc")
    play.submit(1, 2, 3, 4)
    for node in "abc":
        play.pull(node)
    assert calls(play.do(NodeGone("a"))) == []


def test_nobody_is_called_for_what_an_idle_node_has_taken() -> None:
    """No node is called for units that an idle node took, or that no other node may have."""
    play = Play("abc")
    play.pull("c")
    play.submit(1, 2, 3)
    play.pull("a")
    play.pull("b")
    play.pull("c", results=[(1, VALUE)])
    assert calls(play.do(NodeGone("a"))) == []
    play.do(NodeAppeared("x", Offer(1, frozenset({"m:g"}))))
    play.do(NodeGone("c"))
    assert calls(play.do(NodeGone("b"))) == []


def test_a_grant_that_never_arrived_is_given_again() -> None:
    """A grant that was lost is given again when the node's next pull does not hold its unit."""
    play = Play("ab")
    play.submit(1)
    play.pull("a")
    assert grants(play.pull("b")) == {}
    assert play.pull("a", want=0, seen=0) == []  # an answer may be on its way, so b still waits
    assert grants(play.pull("a", want=0, seen=2)) == {2: [1], 3: [], 4: []}


def test_what_an_overtaken_pull_says_about_units_is_old() -> None:
    """The results of an overtaken pull count, but not the units that it says it holds."""
    play = Play()
    play.submit(1, 2)
    play.pull("a", want=2)
    play.pull("a", want=0, holding=[1, 2], serial=5, seen=1)
    commands = play.pull("a", want=1, results=[(1, VALUE)], serial=3, seen=2)
    assert ends(commands) == {1: State.DONE}
    assert grants(commands) == {3: []}
    assert list(play.desk.inflight) == [2]


def test_a_node_that_comes_back_keeps_what_it_has() -> None:
    """The copies of a node that comes back count again, except for units that have ended."""
    play = Play("ab")
    play.submit(1, 2)
    play.pull("a", want=2)
    play.do(NodeGone("a"))
    play.pull("b")
    play.pull("b", want=0, results=[(1, VALUE)])
    play.do(NodeAppeared("a", OFFER))
    commands = play.pull("a", want=0, holding=[1, 2])
    assert Reply(4, Grant(stop=(1,))) in commands
    assert list(play.desk.entries[2].copies) == ["a"]


def test_a_pull_before_its_node_is_known_waits_for_it() -> None:
    """A pull of an unknown node waits until the node appears, but its results count at once."""
    play = Play()
    play.submit(1)
    play.pull("a")
    assert ends(play.pull("x", results=[(1, VALUE)])) == {1: State.DONE}
    play.submit(2)
    assert grants(play.do(NodeAppeared("x", OFFER))) == {2: [2]}


def test_the_pull_of_a_node_that_is_gone_is_answered() -> None:
    """A parked pull of a node that is gone is answered, as the node may be alive."""
    play = Play()
    play.pull("a")
    assert grants(play.do(NodeGone("a"))) == {1: []}


def test_of_a_node_that_is_not_known_the_last_pull_waits() -> None:
    """Only the last pull of an unknown node waits; earlier ones are answered."""
    play = Play("")
    play.pull("x")
    assert grants(play.pull("x")) == {1: []}
    assert grants(play.do(NodeGone("x"))) == {2: []}


def test_an_exception_is_an_answer() -> None:
    """A unit that raised an exception is not tried again."""
    play = Play()
    play.submit(1)
    play.pull("a")
    assert ends(play.pull("a", results=[(1, Kind.RAISED)])) == {1: State.RAISED}


def test_a_unit_is_not_blamed_for_its_nodes_until_many_are_lost() -> None:
    """A unit is quarantined after it was lost with ten nodes."""
    play = Play("")
    play.submit(1)
    for index in range(LOSSES):
        assert not play.desk.duplicates
        assert 1 in play.desk.entries
        play.do(NodeAppeared(f"n{index}", OFFER))
        play.pull(f"n{index}")
        last = play.do(NodeGone(f"n{index}"))
    assert ends(last) == {1: State.QUARANTINED}


def test_units_expire() -> None:
    """A unit expires at its time, whether it waits or runs."""
    play = Play("a")
    play.submit(1, 2, until=5.0)
    reply = play.pull("a")[0]
    assert isinstance(reply, Reply)
    assert reply.grant.orders[0].deadline == 5.0
    assert play.desk.wakeup == 5.0
    play.now = 5.0
    commands = play.do(Tick())
    assert ends(commands) == {1: State.EXPIRED, 2: State.EXPIRED}
    assert Stop("a", (1,)) in commands


def test_a_unit_that_has_ended_does_not_expire() -> None:
    """No wake-up is planned for a unit that has ended."""
    play = Play("a")
    play.submit(1, until=5.0)
    play.pull("a")
    play.pull("a", want=0, results=[(1, VALUE)])
    assert play.desk.wakeup == inf


def test_a_run_ends_when_its_deadline_or_its_units_time_is_over() -> None:
    """The deadline of a run is its own or the rest of its job's time, whichever is shorter."""
    play = Play("ab")
    play.submit(1, 2, until=5.0, deadline=1.0)
    deadlines = []
    for play.now, node in ((0.0, "a"), (4.5, "b")):
        (reply,) = play.pull(node)
        assert isinstance(reply, Reply)
        deadlines.append(reply.grant.orders[0].deadline)
    assert deadlines == [1.0, 0.5]


def test_dropped_units_are_stopped() -> None:
    """Dropped units are cancelled, once each."""
    play = Play()
    play.submit(1, 2)
    play.pull("a")
    commands = play.do(Dropped((1, 2, 99)))
    assert ends(commands) == {1: State.CANCELLED, 2: State.CANCELLED}
    assert Stop("a", (1,)) in commands


def test_a_unit_that_was_killed_for_the_end_of_its_job_is_expired() -> None:
    """A unit that was killed at the end of its job is expired, unless its own deadline was over."""
    for deadline, state in ((None, State.EXPIRED), (5.0, State.EXPIRED), (1.0, State.QUARANTINED)):
        play = Play()
        play.submit(1, until=2.0, retries=0, deadline=deadline)
        play.pull("a")
        told = play.pull("a", results=[(1, Kind.HUNG)], seconds=2.1)
        assert ends(told) == {1: state}


def test_pulls_of_nodes_that_never_appear_are_not_kept_for_ever() -> None:
    """The oldest pulls of nodes that never appear are answered with nothing."""
    play = Play("")
    for number in range(STRANGERS):
        assert play.pull(f"node {number}") == []
    assert play.pull("one more") == [Reply(1, Grant())]
