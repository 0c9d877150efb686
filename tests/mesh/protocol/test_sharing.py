"""Playbooks of clients that share a node: whose unit is next, and which units are recalled
for it.
"""

from __future__ import annotations

from collections import Counter

import pytest

from steelyard.mesh.protocol import crew, customer
from steelyard.mesh.protocol.crew_events import (
    ClientAppeared,
    ClientGone,
    Recall,
    Recalled,
    StopAsked,
    Tick,
)
from tests.mesh.protocol.crew_play import Play, newcomer, wanting


@pytest.mark.parametrize("shared", [False, True])
def test_children_get_less_ahead_while_clients_share_them(shared: bool) -> None:
    """Children get few units ahead while clients share them, as a unit at a child keeps its
    place.
    """
    play = Play(procs=2, clients="ab")
    play.grant("a", 1)
    play.grant("b", *([1] if shared else []))
    play.end(seconds=0.001)
    play.grant("a", *range(2, 400))
    ahead = customer.SHARED if shared else 0.001 + customer.RESERVE
    assert len(play.crew.tickets) == 2 * (1 + ahead / 0.001)


def test_what_a_child_has_ahead_is_taken_back_for_a_newcomer() -> None:
    """The newcomer's unit is next; the recalled units keep their order and are charged once."""
    play, commands = newcomer()
    assert Recall() in commands
    given, served = play.started[2:], play.crew.customers["a"].served
    play.started.clear()
    play.do(Recalled(tuple(sorted(play.crew.tickets)[1:])))
    assert play.crew.customers["a"].served == pytest.approx(served - len(given) * 0.001)
    play.end(seconds=0.001)
    play.end(seconds=0.001)
    assert play.started[0] == ("b", 1)
    rest = play.started[1:]
    assert rest == given[: len(rest)] != []


def test_what_was_thought_to_be_short_is_taken_back_too() -> None:
    """Units that looked short, but turned out to be long, are recalled as well."""
    play = Play(clients="a")
    play.grant("a", 1)
    play.end(seconds=0.0002)
    play.grant("a", *range(2, 100))
    play.end(seconds=0.5)
    play.do(ClientAppeared("b"))
    assert play.crew.customers["b"].served >= 0.5
    assert Recall() in play.grant("b", 1)


def test_who_is_new_begins_where_the_others_are() -> None:
    """A new client starts level with the others, by the work that was really done for them."""
    play, _ = newcomer()
    play.do(ClientAppeared("d"))
    assert play.crew.customers["d"].served == pytest.approx(0.001)
    assert play.crew.customers["a"].served > 0.05


def test_nothing_is_taken_back_for_a_client_that_is_not_next() -> None:
    """Nothing is recalled for a client that had more than its share before."""
    _, commands = newcomer(served=1.0)
    assert Recall() not in commands


def test_nothing_is_taken_back_twice_before_a_unit_ends() -> None:
    """After a recall that brought nothing, the next one waits until a unit ends."""
    play, _ = newcomer()
    assert Recall() not in play.do(Recalled(()))
    assert Recall() in play.end(seconds=0.001)


def test_nothing_is_given_to_children_while_units_are_taken_back() -> None:
    """No unit is given to children during a recall, because a recalled one may go first."""
    play, _ = newcomer()
    play.started.clear()
    play.end(seconds=0.001)
    assert play.started == []
    play.do(Recalled(tuple(play.crew.tickets)))
    assert play.started[0] == ("b", 1)


def test_what_nobody_wants_is_not_given_to_a_child_again() -> None:
    """A recalled unit is dropped if it was stopped meanwhile, or if its client is gone."""
    play, _ = newcomer()
    ahead = tuple(sorted(play.crew.tickets)[1:])
    stopped = play.crew.tickets[ahead[0]].order.number
    play.do(StopAsked("a", (stopped,)))
    play.started.clear()
    play.do(Recalled(ahead[:5]))
    assert ("a", stopped) not in play.started
    play.do(ClientGone("a"))
    play.do(Recalled(ahead[5:]))
    play.end(seconds=0.001)
    assert [one.client for one in play.crew.tickets.values()] == ["b"]


def test_a_client_that_does_not_answer_holds_nobody_up() -> None:
    """While one client does not answer, the node asks the next."""
    play = Play(clients="ab")
    play.grant("a", 1)
    play.grant("b", 1)
    play.end()
    play.grant("a")
    (ask,) = wanting(play.end())
    assert (ask.client, ask.pull.park) == ("a", False)
    assert wanting(play.grant("b")) == []
    play.now += crew.SLOW
    (ask,) = wanting(play.do(Tick()))
    assert ask.client == "b"


def test_a_small_job_is_not_kept_out_by_a_huge_one() -> None:
    """The client that is next gets the next free child, however many units of others wait."""
    play = Play(clients="a")
    play.grant("a", 1)
    play.end(seconds=0.01)
    play.grant("a", 2, 3)
    assert play.crew.tickets
    play.do(ClientAppeared("b"))
    assert (play.asked["b"].want, play.asked["b"].idle) == (1, 1)
    assert Recall() in play.grant("b", 1)
    play.do(Recalled((3,)))
    play.started.clear()
    play.end(seconds=0.01)
    assert play.started[0] == ("b", 1)


@pytest.mark.parametrize(("weight", "more"), [(1.0, False), (3.0, True)])
def test_a_client_that_nobody_knows_yet_gets_no_more_than_its_share(
    weight: float, more: bool
) -> None:
    """The cost of a unit is known only when it ends, so a new client gets no more than its
    share.
    """
    play = Play(procs=2, clients="a")
    play.grant("a", 1, 2)
    play.end()
    play.grant("a", 3)
    play.do(ClientAppeared("b", weight))
    play.grant("b", 1)
    play.end()
    assert play.started[-1] == ("b", 1)
    wanted = [ask for ask in wanting(play.last) if ask.client == "b" and ask.pull.idle]
    assert bool(wanted) is more


@pytest.mark.parametrize("weights", [{"a": 1.0, "b": 1.0}, {"a": 3.0, "b": 1.0}])
def test_clients_share_the_children_by_their_weights(weights: dict[str, float]) -> None:
    """Worker-seconds are shared, not units: those of b take twice as long."""
    play = Play(clients="")
    for name, weight in weights.items():
        play.do(ClientAppeared(name, weight))
    used: Counter[str] = Counter()
    answered = 0
    for number in range(0, 4000, 2):
        for name, pull in list(play.asked.items()):
            if pull.serial > answered:
                play.grant(name, *range(number, number + pull.want))
        answered = max(pull.serial for pull in play.asked.values())
        if play.crew.tickets:
            name = play.crew.tickets[min(play.crew.tickets)].client
            seconds = {"a": 0.5, "b": 1.0}[name]
            used[name] += seconds
            play.now += seconds
            play.end(seconds)
    share = used["a"] / used["b"]
    assert share == pytest.approx(weights["a"] / weights["b"], rel=0.05)


def test_a_client_that_was_away_has_saved_nothing_up() -> None:
    """A client that was idle does not get all children until it has caught up, nor does a
    new one.
    """
    play = Play(clients="ab")
    play.grant("b", more=False)
    play.grant("a", 1)
    for number in range(2, 50):
        play.end(seconds=1.0)
        play.grant("a", number)
    play.now += 50.0
    play.grant("b", 1)
    assert play.crew.customers["b"].served >= 46.0
    play.do(ClientAppeared("c"))
    assert play.crew.customers["c"].served >= 46.0


def test_who_comes_after_long_units_is_level_with_who_came_before() -> None:
    """A client that comes after long units starts level, although their owner was charged for them
    at once.
    """
    play = Play(procs=2, clients="ab")
    play.grant("b", 1, 2)
    play.grant("a", *range(10))
    play.end(seconds=100.0)
    play.end(seconds=100.0)
    play.do(ClientAppeared("c"))
    served = {name: one.served for name, one in play.crew.customers.items()}
    assert served["c"] == pytest.approx(served["a"], abs=1.0)
    assert served["b"] == 200.0


def test_a_client_that_comes_again_and_again_finds_little_ahead() -> None:
    """Children get few units ahead while a client comes again and again, or each visit would cost a
    recall.
    """
    play, _ = newcomer()
    play.do(Recalled(tuple(sorted(play.crew.tickets)[1:])))
    play.end(seconds=0.001)
    play.end(seconds=0.001)
    assert not play.crew.customers["b"].busy
    assert len(play.crew.tickets) == 1 + customer.SHARED / 0.001
    play.now += crew.LATELY
    play.end(seconds=0.001)
    assert len(play.crew.tickets) > customer.RESERVE / 0.001


def test_a_client_may_change_its_weight() -> None:
    """Units that end after a change of weight are charged by the new weight."""
    play = Play()
    play.do(ClientAppeared("c", 4.0))
    play.grant("c", 1)
    play.end(seconds=1.0)
    assert play.crew.customers["c"].served == 0.25


def test_a_client_that_is_there_again_owes_nothing() -> None:
    """A client that comes back owes nothing, and gets nothing back from its first life."""
    play, _ = newcomer()
    play.do(ClientGone("a"))
    play.do(ClientAppeared("a"))
    before = play.crew.customers["a"].served
    play.do(Recalled(tuple(sorted(play.crew.tickets)[1:])))
    assert play.crew.customers["a"].served == before
