"""Playbooks of a client's side: event in, commands out."""

from __future__ import annotations

from collections.abc import Iterable
from math import inf

from steelyard.mesh.execution.outcome import Kind
from steelyard.mesh.protocol import hedging, unserved
from steelyard.mesh.protocol.desk import BULK, LOSSES, STRANGERS, Desk
from steelyard.mesh.protocol.desk_events import (
    Call,
    Command,
    Deliver,
    Dropped,
    NodeAppeared,
    NodeGone,
    Obstructed,
    Pulled,
    Reply,
    Stop,
    Submitted,
    Tick,
)
from steelyard.mesh.protocol.lifecycle import State
from steelyard.mesh.protocol.messages import Grant, Offer, Order, Pull, Result
from steelyard.mesh.protocol.task import Rules, Task

VALUE = Kind.VALUE
OFFER = Offer(1, frozenset({"m:f"}))


class Play:
    """One desk, and nodes `a`, `b`, … with one child each."""

    def __init__(self, nodes: str = "a") -> None:
        self.desk = Desk()
        self.now = 0.0
        self.query = 0
        self.serials: dict[str, int] = {}
        for name in nodes:
            self.do(NodeAppeared(name, OFFER))

    def do(self, event: object) -> list[Command]:
        return self.desk.handle(event, self.now)  # type: ignore[arg-type]

    def submit(self, *numbers: int, until: float | None = None, **rules: object) -> list[Command]:
        made = Rules(**rules)  # type: ignore[arg-type]
        tasks = (Task(number, "m:f", b"", made, until) for number in numbers)
        return self.do(Submitted(tuple(tasks)))

    def pull(
        self,
        node: str,
        want: int = 1,
        idle: int | None = None,
        *,
        park: bool = True,
        holding: Iterable[int] = (),
        results: Iterable[tuple[int, Kind]] = (),
        seconds: float = 1.0,
        run: int = 0,
        serial: int | None = None,
        seen: int | None = None,
    ) -> list[Command]:
        """The node says something; by default all its earlier pulls are closed."""
        if serial is None:
            serial = self.serials[node] = self.serials.get(node, 0) + 1
        self.query += 1
        run = run or self.query
        told = tuple(Result(*one, seconds=seconds, run=run) for one in results)
        pull = Pull(
            serial,
            serial - 1 if seen is None else seen,
            want,
            want if idle is None else idle,
            park,
            tuple(holding),
            told,
        )
        return self.do(Pulled(node, pull, self.query))


def grants(commands: list[Command]) -> dict[int, list[int]]:
    """Numbers of units, by the query that they answer."""
    replies = [one for one in commands if isinstance(one, Reply)]
    return {one.query: [order.number for order in one.grant.orders] for one in replies}


def ends(commands: list[Command]) -> dict[int, State]:
    return {one.number: one.state for one in commands if isinstance(one, Deliver)}


def test_a_pull_that_finds_nothing_waits_and_one_unit_wakes_one_node() -> None:
    """The longest waiting first; the others stay parked."""
    play = Play("abc")
    assert play.pull("a") == play.pull("b") == play.pull("c") == []
    assert grants(play.submit(1)) == {1: [1]}
    assert grants(play.submit(2, 3)) == {2: [2], 3: [3]}


def test_a_node_that_cannot_wait_is_told_at_once() -> None:
    """A pull that is not to be parked has an answer in any case."""
    play = Play()
    assert play.pull("a", park=False) == [Reply(1, Grant())]


def test_who_has_more_children_gets_more_spare_units() -> None:
    """Half of its share of what is left: of 16 units 6 for three children, then 1 for one."""
    play = Play("b")
    play.do(NodeAppeared("a", OFFER._replace(procs=3)))
    play.submit(*range(16))
    assert len(grants(play.pull("a", want=50, idle=0))[1]) == 6
    assert len(grants(play.pull("b", want=50, idle=0))[2]) == 1


def test_spare_units_are_given_up_to_so_many_bytes() -> None:
    """What can begin at once is given in any case; the rest stays in line, in order."""
    play = Play("ab")
    large = b"x" * (BULK // 2)
    tasks = [Task(number, "m:f", large, Rules()) for number in range(40)]
    play.do(Submitted(tuple(tasks)))
    assert grants(play.pull("a", want=10, idle=3)) == {1: [0, 1, 2]}
    assert grants(play.pull("b", want=10, idle=1)) == {2: [3, 4]}
    assert grants(play.pull("b", want=10, idle=0, holding=[3, 4])) == {3: [5, 6]}
    assert play.desk.todo.total == 33


def test_spare_units_are_given_while_there_are_many() -> None:
    """todo / 2·workers, at most what is wanted; the last ones go to idle children only."""
    play = Play("ab")
    play.submit(*range(20))
    assert grants(play.pull("a", want=50, idle=1)) == {1: [0, 1, 2, 3, 4]}
    assert grants(play.pull("b", want=3, idle=0)) == {2: [5, 6, 7]}
    play.do(Dropped(tuple(range(10, 20))))
    assert play.pull("b", want=3, idle=0, holding=[5, 6, 7]) == [Reply(3, Grant(more=True))]
    assert grants(play.pull("b", want=3, idle=1, holding=[5, 6, 7])) == {4: [8]}


def test_busy_nodes_are_told_that_there_is_work() -> None:
    """They come when they are free, whatever they would like to have; idle ones get it at once."""
    for want in (0, 2):
        play = Play("ab")
        play.pull("a", want=want, idle=0)
        assert play.submit(1) == [Reply(1, Grant(more=True))]
        assert grants(play.pull("b")) == {2: [1]}


def test_a_result_ends_its_unit_once() -> None:
    """The second one finds nothing to end."""
    play = Play("ab")
    play.submit(1)
    play.pull("a")
    assert ends(play.pull("a", results=[(1, VALUE)])) == {1: State.DONE}
    assert ends(play.pull("b", results=[(1, VALUE)])) == {}
    assert play.desk.duplicates == 1


def test_units_of_a_node_that_is_gone_are_the_next() -> None:
    """In front of all others, in their old order."""
    play = Play("ab")
    play.submit(*range(8))
    assert grants(play.pull("a", want=3)) == {1: [0, 1, 2]}
    play.do(NodeGone("a"))
    assert grants(play.pull("b", want=8)) == {2: [0, 1, 2, 3, 4, 5, 6, 7]}


def calls(commands: list[Command]) -> list[Call]:
    return [one for one in commands if isinstance(one, Call)]


def test_busy_nodes_are_called_for_what_another_lost() -> None:
    """By and by, as many units for each child; who has least is the first."""
    play = Play("abc")
    play.submit(*range(100))
    for node, want in {"a": 9, "b": 4, "c": 3}.items():
        play.pull(node, want=want, idle=0, park=False)
    assert calls(play.do(NodeGone("a"))) == [Call("c", 2), Call("b", 2)]
    assert calls(play.submit(100)) == []  # they were called already
    commands = play.pull("b", want=2, idle=0, holding=[9, 10, 11, 12])
    assert grants(commands) == {4: [0, 1]}
    assert calls(commands) == [Call("b", 1)]
    assert calls(play.pull("c", want=9, idle=0, holding=[13, 14, 15])) == []


def test_nobody_is_called_for_the_last_units_of_a_job() -> None:
    """They are for idle children: who is busy would come again and again for nothing."""
    play = Play("abc")
    play.submit(1, 2, 3, 4)
    for node in "abc":
        play.pull(node)
    assert calls(play.do(NodeGone("a"))) == []


def test_nobody_is_called_for_what_an_idle_node_has_taken() -> None:
    """Or for what nobody else may have."""
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
    """The node's next pull does not have the unit, and says that it waits for no answer."""
    play = Play("ab")
    play.submit(1)
    play.pull("a")
    assert grants(play.pull("b")) == {}
    assert play.pull("a", want=0, seen=0) == []  # an answer may be on its way: b waits on
    assert grants(play.pull("a", want=0, seen=2)) == {2: [1], 3: [], 4: []}


def test_what_an_overtaken_pull_says_about_units_is_old() -> None:
    """Its results count, what it holds does not."""
    play = Play()
    play.submit(1, 2)
    play.pull("a", want=2)
    play.pull("a", want=0, holding=[1, 2], serial=5, seen=1)
    commands = play.pull("a", want=1, results=[(1, VALUE)], serial=3, seen=2)
    assert ends(commands) == {1: State.DONE}
    assert grants(commands) == {3: []}
    assert list(play.desk.inflight) == [2]


def test_a_node_that_comes_back_keeps_what_it_has() -> None:
    """Its copy counts again; what has ended meanwhile is stopped."""
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
    """Its results count at once."""
    play = Play()
    play.submit(1)
    play.pull("a")
    assert ends(play.pull("x", results=[(1, VALUE)])) == {1: State.DONE}
    play.submit(2)
    assert grants(play.do(NodeAppeared("x", OFFER))) == {2: [2]}


def test_the_pull_of_a_node_that_is_gone_is_answered() -> None:
    """It may be there after all, and would wait for an answer."""
    play = Play()
    play.pull("a")
    assert grants(play.do(NodeGone("a"))) == {1: []}


def test_of_a_node_that_is_not_known_the_last_pull_waits() -> None:
    """Those before it are answered, and so is the last when the node is gone."""
    play = Play("")
    play.pull("x")
    assert grants(play.pull("x")) == {1: []}
    assert grants(play.do(NodeGone("x"))) == {2: []}


def test_a_unit_that_hurts_is_quarantined_after_its_tries() -> None:
    """One more than there are retries; told twice, a crash counts once."""
    play = Play("ab")
    play.submit(1, retries=1)
    play.pull("a")
    for _ in range(2):
        play.pull("a", want=0, results=[(1, Kind.CRASHED)], run=1)
    assert grants(play.pull("b")) == {4: [1]}
    assert ends(play.pull("b", results=[(1, Kind.HUNG)])) == {1: State.QUARANTINED}


def test_a_unit_that_hurt_is_tried_at_another_node() -> None:
    """Perhaps it is the node that is broken, and the first to have nothing to do."""
    play = Play("abc")
    play.submit(1, retries=9)
    play.pull("a")
    assert play.pull("a", results=[(1, Kind.CRASHED)]) == []
    assert grants(play.pull("b")) == {3: [1]}
    assert play.pull("b", results=[(1, Kind.CRASHED)]) == []
    assert grants(play.do(NodeGone("c"))) == {2: [1]}  # it has hurt all that are there


def test_a_unit_that_hurt_does_not_wait_for_ever_for_another_node() -> None:
    """The others may be busy for hours."""
    play = Play("ab")
    play.submit(1, retries=9)
    play.pull("a")
    assert play.pull("a", results=[(1, Kind.CRASHED)]) == []
    assert play.desk.wakeup == play.now + unserved.PATIENCE
    play.now += unserved.PATIENCE
    assert grants(play.do(Tick())) == {2: [1]}


def test_who_may_not_have_a_unit_is_not_told_of_it() -> None:
    """Else it would ask again and again."""
    play = Play("ab")
    play.submit(1, 2)
    play.pull("a", want=2)
    play.pull("a", want=0, holding=[2], results=[(1, Kind.CRASHED)])
    assert play.do(Tick()) == []
    assert grants(play.pull("b")) == {3: [1]}


def test_an_exception_is_an_answer() -> None:
    """It is not tried again."""
    play = Play()
    play.submit(1)
    play.pull("a")
    assert ends(play.pull("a", results=[(1, Kind.RAISED)])) == {1: State.RAISED}


def test_a_unit_is_not_blamed_for_its_nodes_until_many_are_lost() -> None:
    """Ten lost nodes are a pattern."""
    play = Play("")
    play.submit(1)
    for index in range(LOSSES):
        assert not play.desk.duplicates
        assert 1 in play.desk.entries
        play.do(NodeAppeared(f"n{index}", OFFER))
        play.pull(f"n{index}")
        last = play.do(NodeGone(f"n{index}"))
    assert ends(last) == {1: State.QUARANTINED}


def overdue(play: Play, **rules: object) -> list[Command]:
    """Three units took a second each; a fourth is with a for four, and b is idle."""
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
    """After three times the median; the first result stops the other copy."""
    play = Play("ab")
    assert grants(overdue(play)) == {5: [4]}
    commands = play.pull("b", results=[(4, VALUE)])
    assert ends(commands) == {4: State.DONE}
    assert Stop("a", (4,)) in commands


def test_some_units_are_never_hedged() -> None:
    """Those that must not be, and those whose last try it is."""
    assert overdue(Play("ab"), hedge=False) == []
    assert overdue(Play("ab"), retries=0) == []


def test_of_short_units_none_is_overdue_at_once() -> None:
    """What they take longer is the machine's noise."""
    play = Play("ab")
    play.submit(1, 2, 3, 4)
    for number in (1, 2, 3):
        play.pull("a")
        play.pull("a", want=0, results=[(number, VALUE)], seconds=0.0001)
    play.pull("a")
    play.pull("b")
    assert play.desk.wakeup == play.now + hedging.SHORTEST


def test_no_copy_where_a_unit_did_harm() -> None:
    """Another node may try it as well."""
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
    """At most two, on two nodes that are as fast as others."""
    play = Play("abc")
    overdue(play)
    play.now += 100.0
    assert play.pull("c") == []
    assert play.desk.wakeup == float("inf")


def hedged_twice(play: Play, **rules: object) -> None:
    """Unit 9 is overdue with a and b, which take a second; c, d and e have done theirs in less."""
    play.submit(*range(10), **rules)
    seconds = {"a": 1.0, "b": 1.0, "c": 0.1, "d": 0.12, "e": 0.5}
    for number, node in enumerate("aabbccdde"):
        play.pull(node)
        play.pull(node, want=0, results=[(number, VALUE)], seconds=seconds[node])
    play.pull("a")
    play.now += 100.0
    assert grants(play.pull("b")) == {play.query: [9]}


def test_a_third_copy_is_for_one_of_the_fastest_nodes() -> None:
    """Where the unit ends soonest; one is enough, and others would take its place."""
    play = Play("abcde")
    hedged_twice(play, retries=9)
    assert play.pull("e") == []
    assert grants(play.pull("d")) == {play.query: [9]}
    assert play.pull("c") == []


def test_fast_is_who_is_faster_than_those_that_are_there() -> None:
    """Not than one that is gone; and who announces itself anew is as fast as it was."""
    play = Play("abcde")
    hedged_twice(play)
    play.pull("e")
    play.do(NodeAppeared("d", OFFER))
    play.do(NodeGone("c"))
    assert play.do(Tick()) == []
    play.do(NodeGone("d"))
    assert play.desk.wakeup <= play.now
    assert grants(play.do(Tick())) == {play.query: [9]}


def test_a_third_copy_is_a_try() -> None:
    """All that run may hurt their children yet."""
    play = Play("abcde")
    hedged_twice(play, retries=1)
    assert play.pull("c") == []


def test_units_expire() -> None:
    """After that nobody wants them, wherever they are."""
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
    """Nobody wakes up for it."""
    play = Play("a")
    play.submit(1, until=5.0)
    play.pull("a")
    play.pull("a", want=0, results=[(1, VALUE)])
    assert play.desk.wakeup == inf


def test_a_run_ends_when_its_deadline_or_its_units_time_is_over() -> None:
    """Whichever is sooner."""
    play = Play("ab")
    play.submit(1, 2, until=5.0, deadline=1.0)
    deadlines = []
    for play.now, node in ((0.0, "a"), (4.5, "b")):
        (reply,) = play.pull(node)
        assert isinstance(reply, Reply)
        deadlines.append(reply.grant.orders[0].deadline)
    assert deadlines == [1.0, 0.5]


def test_what_a_node_avoids_does_not_keep_others_from_it() -> None:
    """Neither when another node has it, nor when this one serves something else by now."""
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


def test_a_unit_that_hurt_is_tried_again_at_once_where_there_is_nobody_else() -> None:
    """With one node there is no better place."""
    play = Play("a")
    play.submit(1, retries=9)
    play.pull("a")
    assert grants(play.pull("a", results=[(1, Kind.CRASHED)])) == {2: [1]}


def test_a_unit_that_has_ended_is_not_refused_later() -> None:
    """Whatever was remembered of it."""
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


def test_dropped_units_are_stopped() -> None:
    """Cancelled, once each."""
    play = Play()
    play.submit(1, 2)
    play.pull("a")
    commands = play.do(Dropped((1, 2, 99)))
    assert ends(commands) == {1: State.CANCELLED, 2: State.CANCELLED}
    assert Stop("a", (1,)) in commands


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


def test_a_crash_that_is_told_twice_counts_once() -> None:
    """Though the unit may be at the same node again, whose next crash is another one."""
    play = Play()
    play.submit(1, retries=1)
    play.pull("a")
    play.pull("a", results=[(1, Kind.CRASHED)], run=1)
    assert ends(play.pull("a", results=[(1, Kind.CRASHED)], run=1)) == {}
    assert play.desk.entries[1].hurts == 1
    assert ends(play.pull("a", results=[(1, Kind.CRASHED)], run=2)) == {1: State.QUARANTINED}


def test_a_crash_counts_though_its_node_was_given_up() -> None:
    """It did hurt a child."""
    play = Play("ab")
    play.submit(1, retries=0)
    play.pull("a")
    play.do(NodeGone("a"))
    play.do(NodeAppeared("a", OFFER))
    assert ends(play.pull("a", results=[(1, Kind.CRASHED)])) == {1: State.QUARANTINED}


def test_a_unit_that_was_killed_for_the_end_of_its_job_is_expired() -> None:
    """It is not to blame, unless it took longer than it may in any case."""
    for deadline, state in ((None, State.EXPIRED), (5.0, State.EXPIRED), (1.0, State.QUARANTINED)):
        play = Play()
        play.submit(1, until=2.0, retries=0, deadline=deadline)
        play.pull("a")
        told = play.pull("a", results=[(1, Kind.HUNG)], seconds=2.1)
        assert ends(told) == {1: state}


def test_pulls_of_nodes_that_never_appear_are_not_kept_for_ever() -> None:
    """They are answered, with nothing."""
    play = Play("")
    for number in range(STRANGERS):
        assert play.pull(f"node {number}") == []
    assert play.pull("one more") == [Reply(1, Grant())]


def test_what_is_withheld_from_a_node_is_counted() -> None:
    """As units come and go, refused or not; so that nobody comes in vain."""
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


def test_who_no_longer_serves_what_it_has_is_not_the_fastest() -> None:
    """A node may be there again with other functions."""
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


def test_a_function_that_a_node_does_not_know_is_tried_elsewhere() -> None:
    """Refused when nobody is left."""
    play = Play("ab")
    play.submit(1)
    play.pull("a")
    play.pull("b")
    assert grants(play.pull("a", results=[(1, Kind.UNKNOWN)])) == {2: [1]}
    assert ends(play.pull("b", results=[(1, Kind.UNKNOWN)])) == {1: State.REFUSED}


def test_a_unit_is_refused_when_the_last_node_that_might_know_it_goes() -> None:
    """Those that are left have refused it; but it may be back in a moment."""
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
