"""The dealer: which child gets which unit, and which unit is blamed for a child's end."""

from __future__ import annotations

import pytest

from steelyard.mesh.execution.dealer import AHEAD, DEEPEST, IMPORT_LIMIT, LONG, Dealer
from steelyard.mesh.execution.outcome import Kind
from steelyard.mesh.execution.slots import Phase, Slot
from steelyard.mesh.execution.unit import Unit

IDLE = Slot(0, Phase.IDLE, 0.0)


def units(*tickets: int, deadline: float | None = None) -> list[tuple[int, Unit]]:
    return [(ticket, Unit("m:f", b"", deadline)) for ticket in tickets]


def deal(dealer: Dealer) -> list[tuple[int, int]]:
    return [(number, entry.ticket) for number, entry in dealer.deal()]


def running(ticket: int, since: float = 0.0) -> Slot:
    return Slot(ticket, Phase.RUNNING, since)


def quick(children: int) -> Dealer:
    """A dealer that has seen units of a tenth of a millisecond."""
    dealer = Dealer(children)
    for ticket in range(-50, 0):
        dealer.take(units(ticket))
        ((number, _),) = deal(dealer)
        dealer.finish(number, ticket, 0.0001)
    return dealer


def test_units_are_spread_before_any_child_has_two() -> None:
    """The child with the fewest units is next."""
    dealer = Dealer(3)
    dealer.take(units(1, 2, 3, 4))
    assert sorted(deal(dealer)) == [(0, 1), (0, 4), (1, 2), (2, 3)]
    assert dealer.free == 0


def test_free_counts_children_without_work() -> None:
    """`free` counts the children that would be idle if all units were spread."""
    dealer = Dealer(3)
    assert dealer.free == 3
    dealer.take(units(1, 2))
    assert dealer.free == 1


def test_long_units_are_given_one_at_a_time() -> None:
    """Long units wait in the backlog, where any child can take them."""
    dealer = Dealer(1)
    dealer.take(units(1, 2, 3, 4, 5))
    # it is not known yet that they are long
    assert deal(dealer) == [(0, 1), (0, 2), (0, 3), (0, 4)]
    for ticket in (1, 2, 3):
        dealer.finish(0, ticket, 1.0)
        assert deal(dealer) == []
    dealer.finish(0, 4, 1.0)
    assert deal(dealer) == [(0, 5)]


def test_short_units_are_given_ahead() -> None:
    """A child gets as many short units as make up 150 ms, so that the pool can sleep."""
    dealer = Dealer(1)
    dealer.take(units(*range(1, 200)))
    for ticket in range(1, 100):
        deal(dealer)
        dealer.finish(0, ticket, 0.002)
    deal(dealer)
    assert AHEAD <= dealer.slack <= AHEAD + 0.003


def test_of_very_short_units_a_child_has_not_too_many() -> None:
    """A child's socket has room for only some hundreds of units."""
    dealer = quick(1)
    dealer.take(units(*range(1, 200)))
    assert len(deal(dealer)) == DEEPEST


def test_what_no_child_has_can_be_withdrawn() -> None:
    """Withdrawn units come in the order of their arrival, and are forgotten."""
    dealer = quick(1)
    dealer.take(units(*range(1, DEEPEST + 17), deadline=1.0))
    assert len(deal(dealer)) == DEEPEST
    dealer.recall(0, range(3, 10))
    assert dealer.withdraw() == (*range(3, 10), *range(DEEPEST + 1, DEEPEST + 17))
    assert 3 not in dealer
    assert not dealer.waiting
    assert len(dealer) == DEEPEST - 7
    for ticket in (1, 2, *range(10, DEEPEST + 1)):
        dealer.finish(0, ticket, 0.001)
    assert not dealer.timed


def test_a_child_whose_socket_was_full_gets_units_again_when_all_were_taken_back() -> None:
    """If all units were taken back, no answer will come that opens the child again."""
    dealer = quick(1)
    dealer.take(units(1, 2))
    ((_, first), (number, second)) = dealer.deal()
    dealer.refuse(number, second)
    dealer.recall(0, [first.ticket])
    assert deal(dealer) == [(0, 1), (0, 2)]


def test_nothing_is_behind_a_unit_that_takes_long() -> None:
    """A child with a long unit gets no more units before its answer."""
    dealer = quick(2)
    dealer.take(units(1, 2, 3, 4))
    deal(dealer)
    slot = Slot(1, Phase.RUNNING, since=10.0)
    assert not dealer.is_slow(0, slot, now=10.0 + LONG)
    assert dealer.is_slow(0, slot, now=10.1 + LONG)
    assert not dealer.is_slow(0, IDLE, now=10.0)
    dealer.recall(0, [3])
    dealer.shut(0)
    assert deal(dealer) == [(1, 3)]
    dealer.finish(0, 1, 0.2)
    dealer.take(units(5))
    assert deal(dealer) == [(0, 5)]


def test_a_unit_that_was_lost_with_all_children_is_not_withdrawn() -> None:
    """If a lost unit is lost again, it is to blame: the first loss must not be forgotten."""
    dealer = Dealer(1)
    dealer.take(units(1, 2))
    deal(dealer)
    assert dealer.lose([Slot(1, Phase.RUNNING, 0.0)]) == []
    assert dealer.withdraw() == (2,)
    assert 1 in dealer


def test_what_a_busy_child_has_not_begun_goes_to_an_idle_one() -> None:
    """The dealer names the child to take units from, and deals them out again."""
    dealer = quick(2)
    dealer.take(units(1, 2, 3, 4))
    assert sorted(deal(dealer)) == [(0, 1), (0, 3), (1, 2), (1, 4)]
    dealer.finish(1, 2, 0.0001)
    assert dealer.rich() is None
    dealer.finish(1, 4, 0.0001)
    assert dealer.rich() == 0
    dealer.recall(0, [3])
    assert deal(dealer) == [(1, 3)]
    assert dealer.rich() is None


def test_a_socket_without_room() -> None:
    """The unit returns to the front, and the child gets nothing until it has answered."""
    dealer = quick(1)
    dealer.take(units(1, 2, 3))
    deals = dealer.deal()
    next(deals)
    number, second = next(deals)
    dealer.refuse(number, second)
    assert list(deals) == []
    dealer.finish(0, 1, 0.0001)
    assert deal(dealer) == [(0, 2), (0, 3)]


def test_the_unit_that_was_running_is_to_blame_and_no_other() -> None:
    """The units behind the one to blame are dealt out again, in order."""
    dealer = quick(1)
    dealer.take(units(1, 2, 3))
    deal(dealer)
    dealer.finish(0, 1, 0.0001)
    verdict = dealer.end(0, running(2), by_kill=False)
    assert verdict is not None
    assert (verdict.entry.ticket, verdict.kind) == (2, Kind.CRASHED)
    assert deal(dealer) == [(0, 3)]
    assert len(dealer) == 1


@pytest.mark.parametrize("slot", [IDLE, running(1)])
def test_nobody_is_blamed_for_an_end_between_units(slot: Slot) -> None:
    """If the slot names no unit, or one that was answered, no unit is to blame."""
    dealer = quick(1)
    dealer.take(units(1, 2))
    deal(dealer)
    dealer.finish(0, 1, 0.0001)
    assert dealer.end(0, slot, by_kill=False) is None
    assert deal(dealer) == [(0, 2)]


def test_a_deadline_counts_from_the_call() -> None:
    """Waiting and importing do not count, and the import has a limit of its own."""
    dealer = quick(1)
    dealer.take(units(1, 2, deadline=2.0))
    deal(dealer)
    assert dealer.timed
    assert dealer.left(0, IDLE, 100.0) is None
    assert dealer.left(0, Slot(1, Phase.IMPORTING, 100.0), 103.0) == IMPORT_LIMIT - 3
    assert dealer.left(0, running(1, 100.0), 101.5) == 0.5
    assert dealer.left(0, running(1, 100.0), 103.0) == -1.0
    dealer.finish(0, 1, 1.0)
    dealer.finish(0, 2, 1.0)
    assert not dealer.timed


def test_a_unit_that_hangs_is_killed_for() -> None:
    """The child is killed once, and its end is the unit's outcome."""
    dealer = Dealer(1)
    dealer.take(units(1, deadline=2.0))
    deal(dealer)
    assert dealer.condemn(1, Kind.HUNG) == 0
    assert dealer.condemn(1, Kind.HUNG) is None
    verdict = dealer.end(0, running(1), by_kill=True)
    assert verdict is not None
    assert verdict.kind is Kind.HUNG


def test_a_kill_that_comes_too_late_hits_an_innocent_who_is_run_again() -> None:
    """If the condemned unit had answered, the next one is not to blame, and runs again."""
    dealer = quick(1)
    dealer.take(units(1, 2, deadline=2.0))
    deal(dealer)
    dealer.condemn(1, Kind.HUNG)
    dealer.finish(0, 1, 2.0)
    assert dealer.end(0, running(2), by_kill=True) is None
    assert deal(dealer) == [(0, 2)]


def test_who_crashes_before_our_kill_has_crashed() -> None:
    """Another signal than ours shows that the unit crashed by itself."""
    dealer = Dealer(1)
    dealer.take(units(1))
    deal(dealer)
    dealer.condemn(1, Kind.CANCELLED)
    verdict = dealer.end(0, running(1), by_kill=False)
    assert verdict is not None
    assert verdict.kind is Kind.CRASHED


def test_a_child_that_is_being_killed_gets_nothing() -> None:
    """A unit given to such a child would be lost work."""
    dealer = Dealer(1)
    dealer.take(units(1))
    deal(dealer)
    dealer.condemn(1, Kind.CANCELLED)
    dealer.take(units(2))
    assert deal(dealer) == []


def test_the_loss_of_all_children_is_nobodys_fault_once() -> None:
    """A unit that was running in two such losses is blamed; the ones behind it never are."""
    dealer = quick(2)
    dealer.take(units(1, 2, 3))
    assert sorted(deal(dealer)) == [(0, 1), (0, 3), (1, 2)]
    assert dealer.lose([running(1), IDLE]) == []
    assert len(dealer) == 3
    deal(dealer)
    ((verdict, number),) = dealer.lose([IDLE, running(1)]) or dealer.lose([running(1), IDLE])
    assert verdict.entry.ticket == 1
    assert {ticket for _, ticket in deal(dealer)} == {2, 3}
    assert number in (0, 1)


def test_a_ticket_is_used_once() -> None:
    """Two units with one ticket would have one outcome."""
    dealer = Dealer(1)
    dealer.take(units(1))
    with pytest.raises(ValueError, match="ticket 1"):
        dealer.take(units(1))


def test_nothing_is_taken_back_for_a_child_that_is_being_killed() -> None:
    """Such a child is idle, but gets no units: the pool would take back and deal for ever."""
    dealer = quick(2)
    dealer.take(units(1, 2, 3, 4))
    deal(dealer)
    killed = dealer.condemn(1, Kind.CANCELLED)
    assert killed == dealer.holder(1)
    for ticket in (1, 2, 3, 4):
        if dealer.holder(ticket) == killed:
            dealer.finish(killed, ticket, 0.0001)
    assert dealer.rich() is None
    dealer.end(killed, IDLE, by_kill=True)
    assert dealer.rich() == 1 - killed


def test_a_child_that_has_begun_nothing_is_at_nothing() -> None:
    """If the phase is idle, the ticket in the slot does not count."""
    dealer = Dealer(1)
    dealer.take(units(0, deadline=1.0))
    deal(dealer)
    assert dealer.left(0, IDLE, 100.0) is None
    assert not dealer.is_slow(0, IDLE, 100.0)
    assert dealer.end(0, IDLE, by_kill=True) is None
