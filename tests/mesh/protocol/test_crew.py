"""Playbooks of a node's side: event in, commands out."""

from __future__ import annotations

from collections import Counter

import pytest

from steelyard.mesh.execution.outcome import Kind
from steelyard.mesh.protocol import crew, customer
from steelyard.mesh.protocol.crew import Crew
from steelyard.mesh.protocol.crew_events import (
    Ask,
    Called,
    ClientAppeared,
    ClientGone,
    Command,
    Ended,
    Granted,
    LeaveAsked,
    Left,
    PullFailed,
    Recall,
    Recalled,
    Start,
    Stop,
    StopAsked,
    Tick,
)
from steelyard.mesh.protocol.messages import Grant, Order, Pull
from steelyard.mesh.protocol.standing import Standing


class Play:
    """One crew, and what it asked last."""

    def __init__(self, procs: int = 1, clients: str = "c") -> None:
        self.crew = Crew(procs)
        self.now = 0.0
        self.asked: dict[str, Pull] = {}
        self.started: list[tuple[str, int]] = []
        self.last: list[Command] = []
        for name in clients:
            self.do(ClientAppeared(name))

    def do(self, event: object) -> list[Command]:
        commands = self.crew.handle(event, self.now)  # type: ignore[arg-type]
        self.last = commands
        self.asked.update({one.client: one.pull for one in commands if isinstance(one, Ask)})
        for one in commands:
            if isinstance(one, Start):
                self.started.append((self.crew.tickets[one.ticket].client, one.order.number))
        return commands

    def grant(self, client: str, *numbers: int, more: bool = True) -> list[Command]:
        """Answer its last pull."""
        orders = tuple(Order(number, "m:f", b"") for number in numbers)
        return self.do(Granted(client, self.asked[client].serial, Grant(orders, more)))

    def end(
        self, seconds: float = 1.0, kind: Kind = Kind.VALUE, value: bytes = b""
    ) -> list[Command]:
        """The oldest unit ends, a moment later."""
        self.now += 1e-6
        return self.do(Ended(min(self.crew.tickets), kind, value, seconds=seconds))

    def wait(self) -> list[Command]:
        self.now = self.crew.wakeup
        return self.do(Tick())


def asks(commands: list[Command]) -> list[Pull]:
    return [one.pull for one in commands if isinstance(one, Ask)]


def wanting(commands: list[Command]) -> list[Ask]:
    return [one for one in commands if isinstance(one, Ask) and one.pull.want]


def test_a_client_that_appears_is_asked() -> None:
    """For as many units as there are children; the only one may keep the pull."""
    play = Play(procs=2)
    assert play.asked["c"] == Pull(1, 0, want=2, idle=2, park=True)


def test_long_units_are_fetched_one_by_one() -> None:
    """A result brings the next pull, and says what is still there."""
    play = Play(procs=2)
    play.grant("c", 1, 2)
    assert play.started == [("c", 1), ("c", 2)]
    (pull,) = asks(play.end(seconds=1.0))
    assert [one.number for one in pull.results] == [1]
    assert (pull.want, pull.idle, pull.holding) == (1, 1, (2,))


def test_short_units_are_fetched_in_batches() -> None:
    """Some milliseconds of work for each child, and one pull for many results."""
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
    """It has its reasons: there is little left. Half of what it gave is done first."""
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
    """Of the node's work, where no pull is due before; that is not long, and never very long."""
    play = Play()
    play.grant("c", 1)
    play.end(seconds=0.001)
    play.grant("c", *range(2, 3 + left), more=False)
    play.end(seconds=0.001)
    assert play.crew.wakeup == pytest.approx(play.now + wait, abs=1e-4)
    (pull,) = asks(play.wait())
    assert [one.number for one in pull.results] == [2]


def test_results_that_may_be_old_do_not_wait() -> None:
    """A pool tells of several ends at a time: they may be as old as what it told before."""
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
    """It is to be tried again; what it has hurt goes on with a hundred others."""
    play = Play()
    play.grant("c", 1)
    play.end(seconds=0.001)
    play.grant("c", *range(2, 103))
    assert asks(play.end(seconds=0.001)) == []
    (pull,) = asks(play.end(seconds=0.001, kind=kind))
    assert [one.kind for one in pull.results] == [Kind.VALUE, kind]


def test_large_results_do_not_wait() -> None:
    """They take long on their way, and memory here."""
    play = Play()
    play.grant("c", 1)
    play.end(seconds=0.001)
    play.grant("c", *range(2, 103), more=False)
    half = bytes(crew.LARGE // 2)
    assert asks(play.end(seconds=0.001, value=half)) == []
    (pull,) = asks(play.end(seconds=0.001, value=half))
    assert [one.number for one in pull.results] == [2, 3]


def test_units_that_take_no_time_at_all_are_fetched_in_batches() -> None:
    """As many as are ever kept in advance: on their way through a child they take some."""
    play = Play()
    play.grant("c", 1)
    (pull,) = asks(play.end(seconds=0.0))
    assert pull.want == 1 + customer.MOST


def test_a_unit_that_is_here_is_not_taken_twice() -> None:
    """Its client may have given it once more before it heard of the first."""
    play = Play(procs=2)
    play.grant("c", 1)
    play.grant("c", 1, 2)
    assert play.started == [("c", 1), ("c", 2)]


def test_results_do_not_wait_while_a_child_is_idle() -> None:
    """The client may have more for it, now that it knows them."""
    play = Play(procs=2)
    play.grant("c", 1, 2, more=False)
    (pull,) = asks(play.end(seconds=0.001))
    assert [one.number for one in pull.results] == [1]


@pytest.mark.parametrize("shared", [False, True])
def test_children_get_less_ahead_while_clients_share_them(shared: bool) -> None:
    """What a child has cannot be overtaken."""
    play = Play(procs=2, clients="ab")
    play.grant("a", 1)
    play.grant("b", *([1] if shared else []))
    play.end(seconds=0.001)
    play.grant("a", *range(2, 400))
    ahead = customer.SHARED if shared else 0.001 + customer.RESERVE
    assert len(play.crew.tickets) == 2 * (1 + ahead / 0.001)


def newcomer(*, served: float = 0.0) -> tuple[Play, list[Command]]:
    """A client's first unit at a node whose one child has those of another ahead."""
    play = Play(clients="ab")
    play.grant("a", 1)
    play.end(seconds=0.001)
    play.grant("a", *range(2, 300))
    play.crew.customers["b"].served = served
    return play, play.grant("b", 1)


def test_what_a_child_has_ahead_is_taken_back_for_a_newcomer() -> None:
    """Which is next; the others follow in their order, and are paid for once."""
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
    """A client's first unit was; what a child has ahead takes long, so it is not its turn."""
    play = Play(clients="a")
    play.grant("a", 1)
    play.end(seconds=0.0002)
    play.grant("a", *range(2, 100))
    play.end(seconds=0.5)
    play.do(ClientAppeared("b"))
    assert play.crew.customers["b"].served >= 0.5
    assert Recall() in play.grant("b", 1)


def test_who_is_new_begins_where_the_others_are() -> None:
    """By what was done for them; what children have ahead is an estimate, and not done yet."""
    play, _ = newcomer()
    play.do(ClientAppeared("d"))
    assert play.crew.customers["d"].served == pytest.approx(0.001)
    assert play.crew.customers["a"].served > 0.05


def test_nothing_is_taken_back_for_a_client_that_is_not_next() -> None:
    """It had more than its share before."""
    _, commands = newcomer(served=1.0)
    assert Recall() not in commands


def test_nothing_is_taken_back_twice_before_a_unit_ends() -> None:
    """Where a pool keeps what it has, asking again and again would be all that we do."""
    play, _ = newcomer()
    assert Recall() not in play.do(Recalled(()))
    assert Recall() in play.end(seconds=0.001)


def test_nothing_is_given_to_children_while_units_are_taken_back() -> None:
    """What comes back may be before it."""
    play, _ = newcomer()
    play.started.clear()
    play.end(seconds=0.001)
    assert play.started == []
    play.do(Recalled(tuple(play.crew.tickets)))
    assert play.started[0] == ("b", 1)


def test_what_nobody_wants_is_not_given_to_a_child_again() -> None:
    """A unit that was stopped while it was on its way back, and those of a client that is gone."""
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


def test_who_is_called_asks_at_once() -> None:
    """For as many as the client says, though there is no room for more."""
    play, _ = newcomer()
    (pull,) = asks(play.do(Called("a", 7)))
    assert (pull.want, pull.idle, pull.park) == (7, 0, False)


def test_who_is_called_by_a_client_that_does_not_answer_lets_it_rest() -> None:
    """It is asked when it has rested, anyway; one that is not there is not."""
    play = Play()
    play.do(PullFailed("c", play.asked["c"].serial))
    assert play.do(Called("c", 7)) == []
    assert play.do(Called("nobody", 7)) == []


def test_who_is_at_a_long_unit_does_not_come_when_it_is_called() -> None:
    """Or what was lost would wait behind it, while another node is free."""
    play = Play()
    play.grant("c", 1)
    play.end(seconds=1.0)
    play.grant("c", 2)
    assert play.do(Called("c", 3)) == []


def test_what_was_lost_elsewhere_is_next() -> None:
    """It is older: it overtakes what waits here, and what the child has ahead."""
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
    """It, or we, may have missed something."""
    play = Play()
    play.grant("c", 1, more=True)
    assert play.crew.customers["c"].standing is Standing.READY
    assert play.crew.wakeup == play.now + crew.REFRESH
    (pull,) = asks(play.wait())
    assert (pull.want, pull.idle, pull.holding, pull.park) == (0, 0, (1,), False)
    play.grant("c")
    assert play.crew.wakeup == play.now + crew.REFRESH


def test_a_client_with_nothing_gets_a_parked_pull() -> None:
    """And is left alone, but for a repetition now and then."""
    play = Play()
    (pull,) = asks(play.grant("c", more=False))
    assert pull.park
    assert play.crew.customers["c"].standing is Standing.PARKED
    assert play.crew.wakeup == crew.REFRESH
    assert asks(play.wait())[0].park


def test_no_spare_units_of_a_client_whose_last_ones_are_for_idle_children() -> None:
    """It is asked again when a child is idle."""
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
    """Or a client would give a unit to a node that has no child for it."""
    play = Play(clients="ab")
    play.grant("a", more=False)
    play.grant("b", 1, more=False)
    assert play.asked["a"].idle == 1
    play.now += crew.SETTLED
    (pull,) = asks(play.do(Tick()))
    assert (pull.idle, pull.park) == (0, True)


def test_a_client_that_does_not_answer_holds_nobody_up() -> None:
    """Clients are asked one after the other: a node does not want more than it can do."""
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
    """Whose turn is next gets the next free child, however much of others waits here."""
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
    """Its units may take for ever, and what they cost is known when they have ended."""
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
    """Worker-seconds count, not units: those of b take twice as long."""
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
    """It does not get all children until it has caught up with the others; nor does a new one."""
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


def test_after_a_failure_results_are_sent_again_to_a_client_that_has_rested() -> None:
    """Nothing is lost with a pull."""
    play = Play()
    play.grant("c", 1)
    play.end()
    assert play.do(PullFailed("c", play.asked["c"].serial)) == []
    assert play.crew.wakeup == play.now + crew.REST
    (pull,) = asks(play.wait())
    assert [one.number for one in pull.results] == [1]


def test_results_that_were_lost_do_not_wait_again() -> None:
    """Though their client has more for the node to do, which takes long."""
    play = Play()
    play.grant("c", 1, 2)
    (pull,) = asks(play.end())
    play.do(PullFailed("c", pull.serial))
    (again,) = asks(play.wait())
    assert again.results == pull.results != ()


def test_an_answer_to_a_pull_that_was_given_up_is_ignored() -> None:
    """The next pull says that the unit is not here."""
    play = Play()
    first = play.asked["c"].serial
    play.do(PullFailed("c", first))
    assert play.do(Granted("c", first, Grant((Order(1, "m:f", b""),)))) == []
    (pull,) = asks(play.wait())
    assert (pull.seen, pull.holding) == (first, ())


def test_the_units_of_a_client_that_is_gone_are_stopped() -> None:
    """Should it come back, it hears that they are not here; their child is free when it says so."""
    play = Play()
    play.grant("c", 1)
    assert play.do(ClientGone("c")) == [Stop(1)]
    assert asks(play.do(ClientAppeared("c"))) == []
    (pull,) = asks(play.do(Ended(1, Kind.CANCELLED)))
    assert (pull.idle, pull.holding, pull.results) == (1, (), ())
    assert pull.seen == pull.serial - 1


def test_stopped_units_have_no_result() -> None:
    """Whether they ran or waited."""
    play = Play()
    play.grant("c", 1)
    play.end(seconds=0.02)
    play.grant("c", 2, 3)
    assert Stop(2) in play.do(StopAsked("c", (2, 3, 9)))
    (pull,) = asks(play.do(Ended(2, Kind.CANCELLED)))[-1:]
    assert (pull.results, pull.holding) == ((), ())


def test_leaving_gives_back_what_waits_and_finishes_what_runs() -> None:
    """The node ends when its last results have arrived."""
    play = Play()
    play.grant("c", 1, 2, 3)
    (pull,) = asks(play.do(LeaveAsked()))
    assert (pull.want, pull.holding) == (0, (1,))
    play.grant("c")
    (pull,) = asks(play.end())
    assert [one.number for one in pull.results] == [1]
    assert play.grant("c") == [Left()]


def test_leaving_gives_back_what_a_child_has_ahead() -> None:
    """What it has not begun is done by others."""
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
    """While a long unit of another client keeps the node from its end."""
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


def test_who_comes_after_long_units_is_level_with_who_came_before() -> None:
    """Though the one who had them was served a lot in one step when they ended."""
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
    """Or all of it would be taken back each time."""
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
    """What it is served from then on counts by the new one."""
    play = Play()
    play.do(ClientAppeared("c", 4.0))
    play.grant("c", 1)
    play.end(seconds=1.0)
    assert play.crew.customers["c"].served == 0.25


def test_a_client_that_is_there_again_owes_nothing() -> None:
    """Nor is it given back what it was charged in its first life."""
    play, _ = newcomer()
    play.do(ClientGone("a"))
    play.do(ClientAppeared("a"))
    before = play.crew.customers["a"].served
    play.do(Recalled(tuple(sorted(play.crew.tickets)[1:])))
    assert play.crew.customers["a"].served == before


def test_a_pull_that_may_still_be_answered_is_not_said_to_be_closed() -> None:
    """Or its client would give the units of that answer to somebody else."""
    play = Play()
    first = play.asked["c"].serial
    (again,) = asks(play.wait())
    assert again.seen == first - 1


def test_a_pull_without_any_word_is_given_up_in_the_end() -> None:
    """Its results are sent again; until then only the question is repeated."""
    play = Play()
    play.grant("c", 1)
    (lost,) = asks(play.end())
    play.now += crew.REFRESH
    (again,) = asks(play.do(Tick()))
    assert again.results == ()
    play.now += crew.REFRESH
    sent = [pull for pull in asks(play.do(Tick())) if pull.results]
    assert [pull.results for pull in sent] == [lost.results]
