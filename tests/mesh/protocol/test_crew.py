"""Playbooks of a node's side: event in, commands out."""

from __future__ import annotations

import pytest

from steelyard.mesh.execution.outcome import Kind
from steelyard.mesh.protocol import crew, customer
from steelyard.mesh.protocol.crew_events import (
    Called,
    ClientAppeared,
    ClientGone,
    Ended,
    Granted,
    PullFailed,
    Recall,
    Recalled,
    Stop,
    StopAsked,
    Tick,
)
from steelyard.mesh.protocol.messages import Grant, Order, Pull
from steelyard.mesh.protocol.standing import Standing
from tests.mesh.protocol.crew_play import Play, asks, newcomer


def test_a_client_that_appears_is_asked() -> None:
    """The pull asks for as many units as there are children, and may be parked at the only
    client.
    """
    play = Play(procs=2)
    assert play.asked["c"] == Pull(1, 0, want=2, idle=2, park=True)


def test_long_units_are_fetched_one_by_one() -> None:
    """The pull after a long unit brings its result, and says which units are still there."""
    play = Play(procs=2)
    play.grant("c", 1, 2)
    assert play.started == [("c", 1), ("c", 2)]
    (pull,) = asks(play.end(seconds=1.0))
    assert [one.number for one in pull.results] == [1]
    assert (pull.want, pull.idle, pull.holding) == (1, 1, (2,))


def test_short_units_are_fetched_in_batches() -> None:
    """Short units are fetched some milliseconds ahead, and one pull brings many results."""
    play = Play()
    play.grant("c", 1)
    (pull,) = asks(play.end(seconds=0.001))
    spare = 2 + int(customer.HORIZON / 0.001)
    assert pull.want == 1 + spare
    play.grant("c", *range(2, 2 + pull.want))
    assert len(play.crew.tickets) == 2 + customer.RESERVE / 0.001
    talk = [asks(play.end(seconds=0.001)) for _ in range(spare // 2 + 1)]
    assert [len(pulls) for pulls in talk] == [0] * (len(talk) - 1) + [1]
    assert len(talk[-1][0].results) == len(talk)


def test_a_client_that_gives_less_is_not_asked_at_once_again() -> None:
    """After a small grant, a client is asked again only when half of that grant is done."""
    play = Play()
    play.grant("c", 1)
    play.end(seconds=0.001)
    assert asks(play.grant("c", *range(2, 11))) == []
    talk = [asks(play.end(seconds=0.001)) for _ in range(5)]
    assert [len(pulls) for pulls in talk] == [0, 0, 0, 0, 1]


@pytest.mark.parametrize(
    ("left", "wait"), [(1, crew.BRIEFLY), (100, 0.05), (120, crew.LINGER), (250, crew.LINGER)]
)
def test_results_wait_for_half_of_what_is_left(left: int, wait: float) -> None:
    """Results wait for half of the time that the node's work will take, up to a limit."""
    play = Play()
    play.grant("c", 1)
    play.end(seconds=0.001)
    play.grant("c", *range(2, 3 + left), more=False)
    play.end(seconds=0.001)
    assert play.crew.wakeup == pytest.approx(play.now + wait, abs=1e-4)
    (pull,) = asks(play.wait())
    assert [one.number for one in pull.results] == [2]


def test_results_that_may_be_old_do_not_wait() -> None:
    """Results that may be old do not wait, as a pool reports several ends together."""
    play = Play()
    play.grant("c", 1)
    play.end(seconds=0.001)
    play.grant("c", *range(2, 200))
    play.now += crew.LINGER
    (pull,) = asks(play.end(seconds=0.001))
    assert [one.number for one in pull.results] == [2]
    play.grant("c")
    assert asks(play.end(seconds=0.001)) == []


@pytest.mark.parametrize("kind", [Kind.CRASHED, Kind.HUNG, Kind.EXCESS])
def test_a_unit_that_hurt_its_child_is_told_at_once(kind: Kind) -> None:
    """A hurt is reported at once, because the unit is to be tried again."""
    play = Play()
    play.grant("c", 1)
    play.end(seconds=0.001)
    play.grant("c", *range(2, 103))
    assert asks(play.end(seconds=0.001)) == []
    (pull,) = asks(play.end(seconds=0.001, kind=kind))
    assert [one.kind for one in pull.results] == [Kind.VALUE, kind]


def test_large_results_do_not_wait() -> None:
    """Large results do not wait, because they take memory here and long on their way."""
    play = Play()
    play.grant("c", 1)
    play.end(seconds=0.001)
    play.grant("c", *range(2, 103), more=False)
    half = bytes(crew.LARGE // 2)
    assert asks(play.end(seconds=0.001, value=half)) == []
    (pull,) = asks(play.end(seconds=0.001, value=half))
    assert [one.number for one in pull.results] == [2, 3]


def test_units_that_take_no_time_at_all_are_fetched_in_batches() -> None:
    """Units without a measurable run time are fetched MOST ahead, as each counts as taking some."""
    play = Play()
    play.grant("c", 1)
    (pull,) = asks(play.end(seconds=0.0))
    assert pull.want == 1 + customer.MOST


def test_a_unit_that_is_here_is_not_taken_twice() -> None:
    """A unit that a client grants a second time is not run twice."""
    play = Play(procs=2)
    play.grant("c", 1)
    play.grant("c", 1, 2)
    assert play.started == [("c", 1), ("c", 2)]


def test_results_do_not_wait_while_a_child_is_idle() -> None:
    """Results are sent while a child is idle, because the client may have a unit for it."""
    play = Play(procs=2)
    play.grant("c", 1, 2, more=False)
    (pull,) = asks(play.end(seconds=0.001))
    assert [one.number for one in pull.results] == [1]


def test_who_is_called_asks_at_once() -> None:
    """A node that is called pulls for as many units as the client says, even without room
    for them.
    """
    play, _ = newcomer()
    (pull,) = asks(play.do(Called("a", 7)))
    assert (pull.want, pull.idle, pull.park) == (7, 0, False)


def test_who_is_called_by_a_client_that_does_not_answer_lets_it_rest() -> None:
    """A call of a client that rests after a failure, or that is unknown, causes no pull."""
    play = Play()
    play.do(PullFailed("c", play.asked["c"].serial))
    assert play.do(Called("c", 7)) == []
    assert play.do(Called("nobody", 7)) == []


def test_who_is_at_a_long_unit_does_not_come_when_it_is_called() -> None:
    """A node with a long unit ignores a call, as the lost units would wait behind that unit."""
    play = Play()
    play.grant("c", 1)
    play.end(seconds=1.0)
    play.grant("c", 2)
    assert play.do(Called("c", 3)) == []


def test_what_was_lost_elsewhere_is_next() -> None:
    """A unit that was lost elsewhere is older, so it goes before those that wait here."""
    play = Play()
    play.grant("c", 101)
    play.end(seconds=0.001)
    play.grant("c", *range(102, 300))
    play.do(Called("c", 2))
    assert Recall() in play.grant("c", 7, 8)
    play.started.clear()
    play.do(Recalled(tuple(sorted(play.crew.tickets)[1:])))
    assert play.started[:3] == [("c", 7), ("c", 8), ("c", 103)]
    assert len(play.started) == len(set(play.started))


def test_a_client_hears_of_us_now_and_then_though_we_want_nothing() -> None:
    """A client gets a pull now and then although the node wants nothing, in case one was lost."""
    play = Play()
    play.grant("c", 1, more=True)
    assert play.crew.customers["c"].standing is Standing.READY
    assert play.crew.wakeup == play.now + crew.REFRESH
    (pull,) = asks(play.wait())
    assert (pull.want, pull.idle, pull.holding, pull.park) == (0, 0, (1,), False)
    play.grant("c")
    assert play.crew.wakeup == play.now + crew.REFRESH


def test_a_client_with_nothing_gets_a_parked_pull() -> None:
    """A client without work gets a parked pull, which is only repeated now and then."""
    play = Play()
    (pull,) = asks(play.grant("c", more=False))
    assert pull.park
    assert play.crew.customers["c"].standing is Standing.PARKED
    assert play.crew.wakeup == crew.REFRESH
    assert asks(play.wait())[0].park


def test_no_spare_units_of_a_client_whose_last_ones_are_for_idle_children() -> None:
    """A client whose last units are for idle children is asked again when a child is idle."""
    play = Play()
    play.grant("c", 1)
    play.end(seconds=0.05)
    assert play.asked["c"].want == 1 + 2 + customer.HORIZON / 0.05
    play.grant("c", 2, 3, 4, 5)
    play.end(seconds=0.05)
    play.end(seconds=0.05)
    assert play.asked["c"].want == 2 + 2 + customer.HORIZON / 0.05 - 3
    assert asks(play.grant("c")) == []
    assert asks(play.end(seconds=0.05)) == []
    (pull,) = asks(play.end(seconds=0.05))
    assert (pull.want, pull.idle) == (1, 1)


def test_a_parked_pull_is_corrected_when_the_node_gets_busy() -> None:
    """A parked pull is corrected when the node gets busy, or its client would grant in vain."""
    play = Play(clients="ab")
    play.grant("a", more=False)
    play.grant("b", 1, more=False)
    assert play.asked["a"].idle == 1
    play.now += crew.SETTLED
    (pull,) = asks(play.do(Tick()))
    assert (pull.idle, pull.park) == (0, True)


def test_after_a_failure_results_are_sent_again_to_a_client_that_has_rested() -> None:
    """The results of a failed pull are sent again when the client has rested."""
    play = Play()
    play.grant("c", 1)
    play.end()
    assert play.do(PullFailed("c", play.asked["c"].serial)) == []
    assert play.crew.wakeup == play.now + crew.REST
    (pull,) = asks(play.wait())
    assert [one.number for one in pull.results] == [1]


def test_results_that_were_lost_do_not_wait_again() -> None:
    """The results of a lost pull are sent at once, although the client has more for the
    node to do.
    """
    play = Play()
    play.grant("c", 1, 2)
    (pull,) = asks(play.end())
    play.do(PullFailed("c", pull.serial))
    (again,) = asks(play.wait())
    assert again.results == pull.results != ()


def test_an_answer_to_a_pull_that_was_given_up_is_ignored() -> None:
    """An answer to a pull that was given up is ignored, and the next pull says so."""
    play = Play()
    first = play.asked["c"].serial
    play.do(PullFailed("c", first))
    assert play.do(Granted("c", first, Grant((Order(1, "m:f", b""),)))) == []
    (pull,) = asks(play.wait())
    assert (pull.seen, pull.holding) == (first, ())


def test_the_units_of_a_client_that_is_gone_are_stopped() -> None:
    """The units of a client that is gone are stopped, and a client that comes back hears it."""
    play = Play()
    play.grant("c", 1)
    assert play.do(ClientGone("c")) == [Stop(1)]
    assert asks(play.do(ClientAppeared("c"))) == []
    (pull,) = asks(play.do(Ended(1, Kind.CANCELLED)))
    assert (pull.idle, pull.holding, pull.results) == (1, (), ())
    assert pull.seen == pull.serial - 1


def test_stopped_units_have_no_result() -> None:
    """A stopped unit has no result, whether it ran or waited."""
    play = Play()
    play.grant("c", 1)
    play.end(seconds=0.02)
    play.grant("c", 2, 3)
    assert Stop(2) in play.do(StopAsked("c", (2, 3, 9)))
    (pull,) = asks(play.do(Ended(2, Kind.CANCELLED)))[-1:]
    assert (pull.results, pull.holding) == ((), ())


def test_a_pull_that_may_still_be_answered_is_not_said_to_be_closed() -> None:
    """A pull that may still be answered is not reported as closed, or its units would go
    elsewhere.
    """
    play = Play()
    first = play.asked["c"].serial
    (again,) = asks(play.wait())
    assert again.seen == first - 1


def test_a_pull_without_any_word_is_given_up_in_the_end() -> None:
    """An unanswered pull is repeated, and given up in the end; then its results are sent again."""
    play = Play()
    play.grant("c", 1)
    (lost,) = asks(play.end())
    play.now += crew.REFRESH
    (again,) = asks(play.do(Tick()))
    assert again.results == ()
    play.now += crew.REFRESH
    sent = [pull for pull in asks(play.do(Tick())) if pull.results]
    assert [pull.results for pull in sent] == [lost.results]
