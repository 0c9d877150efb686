"""When a pool may nap, and what ends a nap: a keeper with real children, driven by hand."""

from __future__ import annotations

import errno
import resource
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import psutil
import pytest

from steelyard.mesh.execution import capture, wire
from steelyard.mesh.execution.brood import Brood
from steelyard.mesh.execution.keeper import CONTROL, GIVE_UP, LONGEST_NAP, ROOM, TICK, Keeper
from steelyard.mesh.execution.outcome import Kind
from steelyard.mesh.execution.parcel import INLINE
from steelyard.mesh.execution.slots import Phase
from steelyard.mesh.execution.unit import Unit
from tests.waiting import wait_until

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
    """Wait for the next events, and handle them."""
    ready = keeper.selector.select(PATIENCE)
    assert ready, "nothing happened"
    for key, _ in ready:
        keeper.attend(key.data)
    keeper.deal()


def start(keeper: Keeper, count: int, name: str, *args: object, **limits: float) -> None:
    units = [Unit(f"{UNITS}:{name}", wire.pack_call(*args), **limits) for _ in range(count)]
    keeper.take(enumerate(units, len(keeper.outbox) + len(keeper.dealer)))


def run(keeper: Keeper, count: int, *what: object) -> None:
    """Run units until all of them are done."""
    start(keeper, count, *what)
    while len(keeper.dealer):
        turn(keeper)


def test_who_has_nothing_ahead_is_looked_at_all_the_time(keeper: Keeper) -> None:
    """Somebody waits for the next answer of a child that has no work in advance."""
    run(keeper, 5, "spin", 1)
    start(keeper, 1, "spin", 1)
    assert keeper.nap == 0


def test_who_has_a_lot_ahead_may_be_left_alone(keeper: Keeper) -> None:
    """The nap lasts half of the work in advance, at most 0.1 s, and less with deadlines."""
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
    """The running unit must be tried again at once, while answers can wait."""
    start(keeper, 1, "add", 1)
    assert keeper.selector.select(PATIENCE)  # the answer is there
    assert keeper.bell.poll(0) == []
    turn(keeper)
    start(keeper, 1, "leave", 3)
    assert keeper.bell.poll(1000 * PATIENCE)
    while len(keeper.outbox) < 2:
        turn(keeper)
    assert [one.kind for one in keeper.outbox] == [Kind.VALUE, Kind.CRASHED]


@pytest.mark.parametrize("whose", ["child", "nursery"])
def test_what_was_answered_before_the_end_counts(keeper: Keeper, whose: str) -> None:
    """An answer that nobody has read yet counts: its unit is neither blamed nor run again."""
    start(keeper, 1, "add", 1)
    assert keeper.selector.select(PATIENCE)  # the answer is there
    if whose == "child":
        keeper._brood.kill(0)
    else:
        keeper._brood.end()
    assert keeper.bell.poll(1000 * PATIENCE)
    keeper.attend(CONTROL)
    assert [one.kind for one in keeper.outbox] == [Kind.VALUE]
    assert len(keeper.dealer) == 0


def test_a_unit_that_is_cancelled_in_a_child_that_is_being_killed_does_not_run_again(
    keeper: Keeper, tmp_path: Path
) -> None:
    """The child was condemned for another unit, which had answered by then."""
    notes, go = [tmp_path / "first", tmp_path / "second"], tmp_path / "go"
    start(keeper, 1, "note_and_wait", str(notes[0]), str(go))
    start(keeper, 1, "note_and_wait", str(notes[1]), str(tmp_path / "never"))
    wait_until(notes[0].exists, PATIENCE)
    assert keeper.dealer.condemn(0, Kind.HUNG) == 0
    go.touch()
    wait_until(notes[1].exists, PATIENCE)
    keeper.cancel(1)
    keeper._brood.kill(0)
    while len(keeper.outbox) < 2:
        turn(keeper)
    assert [one.kind for one in keeper.outbox] == [Kind.VALUE, Kind.CANCELLED]


def test_a_nursery_that_cannot_be_told_anything_is_ended(
    keeper: Keeper, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A lost order would never be carried out."""
    note = tmp_path / "note"
    start(keeper, 1, "note_and_wait", str(note), str(tmp_path / "never"))
    wait_until(note.exists, PATIENCE)
    with monkeypatch.context() as patch:
        patch.setattr("steelyard.mesh.execution.brood.TRIES", 0)
        keeper.cancel(0)
    while not keeper.outbox:
        turn(keeper)
    assert [one.kind for one in keeper.outbox] == [Kind.CANCELLED]


def test_no_child_is_killed_for_a_unit_that_has_ended(keeper: Keeper) -> None:
    """A unit's answer may be there, though nobody has read it."""
    start(keeper, 1, "add", 1)
    start(keeper, 1, "rest", 0)
    assert keeper.selector.select(PATIENCE)
    keeper.cancel(0)
    assert keeper.outbox[0].kind is Kind.VALUE
    assert keeper.dealer._seats[0].open


def test_a_new_child_is_not_at_what_the_last_one_was(keeper: Keeper) -> None:
    """Otherwise a unit of the new child would seem to have run for long already."""
    start(keeper, 1, "leave", 3)
    while not keeper.outbox:
        turn(keeper)
    assert keeper._brood.slot(0).phase is Phase.IDLE


@contextmanager
def no_descriptors() -> Iterator[None]:
    """Inside the block, this process cannot open any descriptor."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (3, hard))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))


def descriptors() -> int:
    return len(list(Path("/proc/self/fd").iterdir()))


@pytest.fixture
def impatient(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("steelyard.mesh.execution.keeper.PAUSE", 0.0)


@pytest.mark.usefixtures("impatient")
def test_a_nursery_that_cannot_be_started_again_is_tried_on(
    keeper: Keeper, caplog: pytest.LogCaptureFixture
) -> None:
    """Units fail meanwhile; afterwards all works as before, and nothing is left open."""
    before = descriptors()
    start(keeper, 2, "rest", 0)
    with no_descriptors():
        keeper._brood.end()
        while not keeper._is_lost:
            turn(keeper)
        while len(keeper.dealer):
            keeper.look_after()
        start(keeper, 1, "rest", 0)
        keeper.cancel(2)
        assert keeper.recall() == ()
        keeper.relieve()
    assert [one.kind for one in keeper.outbox] == [Kind.CRASHED, Kind.CRASHED, Kind.CANCELLED]
    assert "no child process can be started" in caplog.text
    while not keeper.up.is_set():
        keeper.look_after()
        turn(keeper)
    keeper.outbox.clear()
    run(keeper, 3, "add", 1)
    assert {one.kind for one in keeper.outbox} == {Kind.VALUE}
    assert descriptors() == before


@pytest.mark.usefixtures("impatient")
def test_a_child_that_cannot_be_forked_again_is_not_missing_for_ever(keeper: Keeper) -> None:
    """If a child cannot be replaced, all children start over."""
    start(keeper, 1, "leave", 1)
    with no_descriptors():
        while not keeper._is_lost:
            turn(keeper)
    while not keeper.up.is_set():
        keeper.look_after()
        turn(keeper)
    keeper.outbox.clear()
    run(keeper, 3, "add", 1)
    assert {one.kind for one in keeper.outbox} == {Kind.VALUE}


def test_a_nursery_that_does_not_come_up_is_ended(
    monkeypatch: pytest.MonkeyPatch, impatient: None
) -> None:
    """Modules that a nursery failed to preload are left to the children."""
    keeper = Keeper(1, ["tests.mesh.execution.endless"])
    with monkeypatch.context() as patch:
        patch.setattr("steelyard.mesh.execution.keeper.START_LIMIT", 0.0)
        keeper.look_after()
    while not keeper.up.is_set():
        turn(keeper)
    run(keeper, 1, "add", 1)
    assert [one.kind for one in keeper.outbox] == [Kind.VALUE]
    keeper.close()


@pytest.mark.usefixtures("impatient")
def test_nurseries_that_did_not_start_are_forgotten_when_one_does(keeper: Keeper) -> None:
    """Failed starts count only if they come in a row."""
    run(keeper, 1, "add", 1)
    for _ in range(GIVE_UP):
        keeper._brood.end()
        while keeper.up.is_set():
            turn(keeper)
        start(keeper, 1, "add", 1)
        keeper._brood.end()
        while not keeper.up.is_set() or len(keeper.dealer):
            turn(keeper)
    assert [one.kind for one in keeper.outbox] == [Kind.VALUE] * (1 + GIVE_UP)


def test_what_is_taken_back_leaves_nothing_open(keeper: Keeper, tmp_path: Path) -> None:
    """Descriptors of large arguments are closed when their units are taken back."""
    note = tmp_path / "note"
    start(keeper, 1, "note_and_wait", str(note), str(tmp_path / "never"))
    wait_until(note.exists, PATIENCE)
    before = descriptors()
    start(keeper, 2, "rest", bytes(2 * INLINE))
    assert keeper.recall() == (1, 2)
    assert descriptors() == before


def test_a_brood_that_fails_half_way_leaves_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    """A brood that cannot be completed leaves neither descriptors nor processes."""
    files = [capture.create()]
    before, processes = descriptors() - 1, psutil.Process().children()

    def create() -> int:
        if not files:
            raise OSError(errno.EMFILE, "too many")
        return files.pop()

    monkeypatch.setattr(capture, "create", create)
    with pytest.raises(OSError, match="too many"):
        Brood(2, ())
    assert descriptors() == before
    assert psutil.Process().children() == processes
