"""When a pool may nap, and what ends a nap: a keeper with real children, driven by hand."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from steelyard.mesh.execution import wire
from steelyard.mesh.execution.keeper import LONGEST_NAP, ROOM, TICK, Keeper
from steelyard.mesh.execution.outcome import Kind
from steelyard.mesh.execution.unit import Unit

UNITS = "tests.mesh.execution.units"
PATIENCE = 60.0  # seconds; nothing that works takes so long


@pytest.fixture
def keeper() -> Iterator[Keeper]:
    one = Keeper(1, ())
    while not one.up.is_set():
        turn(one)
    yield one
    one.close()


def turn(keeper: Keeper) -> None:
    """Wait for whatever comes next, and attend to it."""
    ready = keeper.selector.select(PATIENCE)
    assert ready, "nothing happened"
    for key, _ in ready:
        keeper.attend(key.data)
    keeper.deal()


def start(keeper: Keeper, count: int, name: str, *args: object, **limits: float) -> None:
    units = [Unit(f"{UNITS}:{name}", wire.pack_call(*args), **limits) for _ in range(count)]
    keeper.take(enumerate(units, len(keeper.outbox) + len(keeper.dealer)))


def run(keeper: Keeper, count: int, *what: object) -> None:
    """Until all of these are done."""
    start(keeper, count, *what)
    while len(keeper.dealer):
        turn(keeper)


def test_who_has_nothing_ahead_is_looked_at_all_the_time(keeper: Keeper) -> None:
    """Its next answer is one that somebody waits for."""
    run(keeper, 5, "spin", 1)
    start(keeper, 1, "spin", 1)
    assert keeper.nap == 0


def test_who_has_a_lot_ahead_may_be_left_alone(keeper: Keeper) -> None:
    """For half of it, a tenth of a second at most; less while there are deadlines."""
    run(keeper, 20, "rest", 0)
    start(keeper, 3, "rest", 0)
    assert 0 < keeper.nap <= keeper.dealer.slack / 2
    start(keeper, 40, "rest", 0)
    assert TICK < keeper.nap <= LONGEST_NAP
    start(keeper, 1, "rest", 0, deadline=100.0)
    assert keeper.nap == TICK


def test_large_answers_do_not_wait_until_the_socket_is_full(keeper: Keeper) -> None:
    """A child that cannot send its answer cannot begin its next unit."""
    size = 30_000
    run(keeper, 40, "rest", bytes(size))
    start(keeper, 40, "rest", bytes(size))
    assert keeper.nap > 0
    assert keeper.nap / keeper.dealer.mean * size < 1.1 * ROOM


def test_a_childs_end_ends_a_nap_and_an_answer_does_not(keeper: Keeper) -> None:
    """The unit that it was at must be tried again, while answers can wait."""
    start(keeper, 1, "add", 1)
    assert keeper.selector.select(PATIENCE)  # the answer is there
    assert keeper.bell.poll(0) == []
    turn(keeper)
    start(keeper, 1, "leave", 3)
    assert keeper.bell.poll(1000 * PATIENCE)
    while len(keeper.outbox) < 2:
        turn(keeper)
    assert [one.kind for one in keeper.outbox] == [Kind.VALUE, Kind.CRASHED]
