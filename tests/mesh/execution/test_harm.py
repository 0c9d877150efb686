"""Units that harm their children in every way they can."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from steelyard.mesh.execution import wire
from steelyard.mesh.execution.outcome import Kind
from tests.mesh.execution.stage import PATIENCE, Stage, gone, why
from tests.waiting import wait_until

pytestmark = pytest.mark.xdist_group("harm")  # most tests of this file share a pool


def test_a_unit_that_leaves_no_descriptors_hurts_nobody_else() -> None:
    """A child without descriptors cannot open large arguments and ends; the next one can."""
    alone = Stage(1)
    assert alone.value("use_up_descriptors") > 0
    assert len(alone.value("echo", bytes(1_000_000))) == 1_000_000
    alone.pool.close()


@pytest.mark.parametrize(
    ("name", "args", "how", "printed"),
    [
        ("leave", (3,), "exit code 3", b"leaving\n"),
        ("leave", (0,), "exit code 0", b"leaving\n"),
        ("segfault", (), "SIGSEGV", b"falling\n"),
        ("kill_self", (), "SIGKILL", b""),
        ("close_descriptors", (), "exit code 1", b""),
    ],
)
def test_a_crash_is_the_units_own(
    stage: Stage, name: str, args: Any, how: str, printed: bytes
) -> None:
    """The outcome tells how the child ended, and what it printed before."""
    got = stage.run(name, *args)
    assert got.kind is Kind.CRASHED
    assert how in why(got).message
    assert got.output.startswith(printed)


def test_a_child_that_cannot_say_what_happened_ends_alone(stage: Stage, tmp_path: Path) -> None:
    """A unit closes all descriptors of its child; its sibling goes on working."""
    note, go = tmp_path / "note", tmp_path / "go"
    innocent = stage.start("note_and_wait", str(note), str(go))
    wait_until(note.exists, PATIENCE)
    assert {stage.run("close_descriptors", 0).kind for _ in range(6)} == {Kind.CRASHED}
    go.touch()
    assert stage.outcome(innocent).kind is Kind.VALUE


def test_what_a_unit_started_ends_with_its_child(stage: Stage, tmp_path: Path) -> None:
    """Programs that a unit started end with its child, even if the unit ends the child."""
    note = tmp_path / "note"
    assert stage.run("start_and_leave", str(note)).kind is Kind.CRASHED
    wait_until(lambda: gone(int(note.read_text())), PATIENCE)


def test_when_memory_is_short_children_go_first(stage: Stage) -> None:
    """The kernel kills a unit, which is tried again, and not the node."""
    score = Path(f"/proc/{stage.value('pid')}/oom_score_adj")
    assert int(score.read_text()) >= 500


def test_in_a_batch_exactly_the_poison_is_blamed(stage: Stage) -> None:
    """Units behind a poisonous one at the same child are run; each has one outcome."""
    poison = {3, 4, 11, 27}
    batch = [
        stage.unit("leave", 1) if number in poison else stage.unit("echo", number)
        for number in range(40)
    ]
    stage.pool.start_all(batch)
    for number, (ticket, _) in enumerate(batch):
        got = stage.outcome(ticket)
        if number in poison:
            assert got.kind is Kind.CRASHED
        else:
            assert (got.kind, wire.unpack(got.value)) == (Kind.VALUE, number)


def test_a_hang_ends_at_its_deadline_and_those_behind_it_go_on(alone: Stage) -> None:
    """A hang is ended even if no thread of its process could end it."""
    assert alone.value("add", 1) == 1
    batch = [alone.unit("hang", deadline=0.2), *(alone.unit("echo", n) for n in range(5))]
    alone.pool.start_all(batch)
    got = alone.outcome(batch[0][0])
    assert got.kind is Kind.HUNG
    assert got.seconds >= 0.2
    assert [wire.unpack(alone.outcome(ticket).value) for ticket, _ in batch[1:]] == [0, 1, 2, 3, 4]


def test_a_deadline_that_is_met_does_nothing(stage: Stage) -> None:
    """The unit's value is its outcome."""
    assert stage.value("add", 1, 1, deadline=60.0) == 2


def test_memory_beyond_the_allowance_is_refused(stage: Stage) -> None:
    """Only the unit itself gets an error; without an allowance there is no limit."""
    assert stage.run("allocate", 200_000_000, memory=50_000_000).kind is Kind.EXCESS
    assert stage.value("allocate", 20_000_000, memory=50_000_000) == 20_000_000
    assert stage.value("allocate", 200_000_000) == 200_000_000


def test_a_unit_that_forks_answers_once(stage: Stage) -> None:
    """The forked process ends where the unit ends."""
    ticket = stage.start("fork")
    assert wire.unpack(stage.outcome(ticket).value) == "parent"
    assert stage.value("add", 1) == 1
    assert stage.quiet()
