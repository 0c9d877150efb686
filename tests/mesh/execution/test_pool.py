"""A pool with real children: the units that go in, and the outcomes that come out."""

from __future__ import annotations

import os
import queue
import socket
import subprocess
import sys
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy
import pytest

from steelyard.mesh.execution import wire
from steelyard.mesh.execution.orders import read_answer, send_answer
from steelyard.mesh.execution.outcome import Kind, Outcome
from steelyard.mesh.execution.parcel import Receiver
from steelyard.mesh.execution.pool import Pool
from steelyard.mesh.execution.unit import Unit
from tests.mesh.execution.stage import HERE, PATIENCE, Stage, gone, why
from tests.waiting import wait_until

pytestmark = pytest.mark.xdist_group("pool")  # most tests of this file share a pool


def test_a_function_is_called_with_its_arguments(stage: Stage) -> None:
    """The function is found by name, runs in another process, and is timed."""
    got = stage.run("add", 1, 2)
    assert (got.kind, wire.unpack(got.value), got.output) == (Kind.VALUE, 3, b"")
    assert 0 <= got.seconds < PATIENCE
    assert stage.value("pid") != os.getpid()


def test_a_decorated_function_is_run_as_it_is_decorated(stage: Stage) -> None:
    """The object that the module holds under the name is called."""
    assert stage.value("decorated", 1) == 2


def test_large_arrays_go_both_ways(stage: Stage) -> None:
    """Arrays larger than any socket's buffer arrive, and are read-only there."""
    array = numpy.arange(1_000_000, dtype="f8")
    assert (stage.value("double", array) == array * 2).all()
    assert stage.value("is_writeable", array) is False
    assert stage.value("echo", b"x" * 100_000) == b"x" * 100_000


@pytest.mark.parametrize(
    ("name", "args", "type_", "said"),
    [
        ("fail", ("the key",), "KeyError", "the key"),
        ("exit_politely", (), "SystemExit", "enough"),
        ("fail_silently", (), "SilentError", "cannot be shown: RuntimeError"),
        ("fail_and_leave", (), "LeavingError", "cannot be shown: SystemExit"),
        ("fail_beyond_words", (), "SyntaxError", "odd"),
        ("fail_with_a_name", (), "ValueError", r"no file \udcff"),
        ("add", (), "TypeError", "required positional argument"),
        ("allocate", (2**62,), "MemoryError", ""),
        ("unsendable", (), "WireError", "lock"),
    ],
)
def test_what_a_unit_raises(stage: Stage, name: str, args: Any, type_: str, said: str) -> None:
    """Type, message and traceback arrive; the traceback begins in the unit."""
    got = stage.run(name, *args)
    failure = why(got)
    assert (got.kind, failure.type) == (Kind.RAISED, type_)
    assert said in failure.message
    if name == "fail":
        assert "units.py" in failure.traceback
        assert "child.py" not in failure.traceback


def test_arguments_that_are_of_no_use_are_told(stage: Stage) -> None:
    """Malformed arguments fail the unit without a call; its child goes on."""
    ticket, unit = stage.unit("echo", 1)
    stage.pool.start(ticket, replace(unit, arguments=b"\xc1"))
    failure = why(stage.outcome(ticket))
    assert failure.type == "TypeError"
    assert "the arguments of tests.mesh.execution.units:echo" in failure.message
    assert stage.value("echo", 1) == 1


def test_an_answer_without_its_value_is_none() -> None:
    """If the pool had no descriptor left for a value, the unit counts as crashed."""
    ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    send_answer(theirs, 7, Kind.VALUE, [bytes(1_000_000)], b"", 0.5)
    with ours, theirs:
        got = Receiver().receive(ours)
        assert got is not None
        assert got.fd is not None
        os.close(got.fd)
        answer = read_answer(got._replace(fd=None, torn=True))
    assert (answer.ticket, answer.kind) == (7, Kind.CRASHED)
    assert "descriptors" in wire.unpack_failure(answer.value).message


def test_not_all_of_a_huge_exception_is_sent(stage: Stage) -> None:
    """The beginning and the end of a huge message are sent."""
    failure = why(stage.run("fail_at_length", 10_000_000))
    assert failure.message.startswith("xxx")
    assert len(failure.message) + len(failure.traceback) < 200_000


@pytest.mark.parametrize(
    ("name", "said"),
    [
        (f"{HERE}.units:nothing", "has no nothing"),
        (f"{HERE}.units:ANSWER", "is not a function"),
        (f"{HERE}.nowhere:f", "no module tests.mesh.execution.nowhere"),
        (f"{HERE}.broken:f", "broken on purpose"),
        (":f", "module:function"),
    ],
)
def test_an_unknown_function_is_explained(stage: Stage, name: str, said: str) -> None:
    """The message tells what is missing, and where."""
    got = stage.run(name)
    assert got.kind is Kind.UNKNOWN
    assert said in why(got).message


def test_what_is_behind_a_slow_unit_goes_to_others(stage: Stage, tmp_path: Path) -> None:
    """Units that were handed out in advance are taken back while the child is busy."""
    for _ in range(20):  # short ones, so that many are given in advance
        stage.value("add", 1)
    go = tmp_path / "go"
    slow, *rest = [stage.unit("wait_for", str(go)), *(stage.unit("echo", n) for n in range(30))]
    stage.pool.start_all([slow, *rest])
    for number, (ticket, _) in enumerate(rest):
        assert wire.unpack(stage.outcome(ticket).value) == number
    go.touch()
    assert stage.outcome(slow[0]).kind is Kind.VALUE


def test_nothing_stays_behind_a_slow_unit_while_there_is_always_more(tmp_path: Path) -> None:
    """Units are taken back even if no other child ever runs out of work."""

    class Endless(Stage):
        def _tell(self, outcomes: Sequence[Outcome]) -> None:
            super()._tell(outcomes)
            if not go.exists():
                self.pool.start_all([self.unit("echo", 1) for _ in outcomes])

    note, go = tmp_path / "note", tmp_path / "go"
    stage = Endless(2)
    slow, *rest = [stage.unit("note_and_wait", str(note), str(go))] + [
        stage.unit("echo", number) for number in range(400)
    ]
    stage.pool.start_all([slow])
    wait_until(note.exists, PATIENCE)
    stage.pool.start_all(rest)
    for ticket, _ in rest:
        assert stage.outcome(ticket).kind is Kind.VALUE
    go.touch()
    stage.pool.close()


def test_cancelling_a_unit_that_runs(stage: Stage, tmp_path: Path) -> None:
    """The child is killed, together with the programs that it started."""
    note = tmp_path / "note"
    ticket = stage.start("start_and_hang", str(note))
    wait_until(note.exists, PATIENCE)
    pid, program, _ = map(int, note.read_text().split())
    stage.pool.cancel(ticket)
    assert stage.outcome(ticket).kind is Kind.CANCELLED
    wait_until(lambda: gone(pid) and gone(program), PATIENCE)


def test_cancelling_units_that_wait(alone: Stage, tmp_path: Path) -> None:
    """Units at the child and in the backlog are cancelled; the others are run."""
    note, go = tmp_path / "note", tmp_path / "go"
    first = alone.start("note_and_wait", str(note), str(go))
    wait_until(note.exists, PATIENCE)
    batch = [alone.unit("echo", number) for number in range(6)]
    alone.pool.start_all(batch)
    unwanted = [ticket for ticket, _ in batch[::2]]
    for ticket in unwanted:
        alone.pool.cancel(ticket)
    assert {alone.outcome(ticket).kind for ticket in unwanted} == {Kind.CANCELLED}
    go.touch()
    assert alone.outcome(first).kind is Kind.VALUE
    assert [wire.unpack(alone.outcome(ticket).value) for ticket, _ in batch[1::2]] == [1, 3, 5]
    alone.pool.cancel(first)  # it has ended, so this does nothing
    assert alone.value("add", 1) == 1


def test_what_no_child_has_begun_can_be_recalled(alone: Stage, tmp_path: Path) -> None:
    """Recalled units have no outcome; the running one goes on, and later ones are run."""
    note, go = tmp_path / "note", tmp_path / "go"
    first = alone.start("note_and_wait", str(note), str(go))
    wait_until(note.exists, PATIENCE)
    batch = [alone.unit("echo", number) for number in range(10)]
    alone.pool.start_all(batch)
    assert alone.pool.recall() == tuple(ticket for ticket, _ in batch)
    assert alone.pool.recall() == ()
    again = alone.start("echo", "again")
    go.touch()
    assert alone.outcome(first).kind is Kind.VALUE
    assert wire.unpack(alone.outcome(again).value) == "again"
    assert alone.pool.free == 1
    assert alone.quiet()


def test_a_new_child_whose_socket_was_full_works_on_when_all_was_taken_back(tmp_path: Path) -> None:
    """A delivery may recall units at once, before the new child has read any."""
    back: list[int] = []

    class Recalling(Stage):
        def _tell(self, outcomes: Sequence[Outcome]) -> None:
            if any(one.kind is Kind.CRASHED for one in outcomes):
                back.extend(self.pool.recall())
            super()._tell(outcomes)

    stage = Recalling(1)
    for _ in range(60):  # short ones, so that many are given in advance
        stage.value("add", 1)
    bad, large = stage.unit("kill_self"), bytes(30_000)
    others = [stage.unit("echo", large) for _ in range(20)]
    stage.pool.start_all([bad, *others])
    assert stage.outcome(bad[0]).kind is Kind.CRASHED
    done = {ticket for ticket, _ in others} - set(back)  # the new child may have begun some already
    assert len(done) < 20
    assert {stage.outcome(ticket).kind for ticket in done} <= {Kind.VALUE}
    assert stage.value("add", 1) == 1
    stage.pool.close()


UNPRIVILEGED = """
import queue, resource, sys
from tests.mesh.execution.test_pool import Kind, Stage
resource.setrlimit(resource.RLIMIT_NOFILE, (64, 64))
stage = Stage(4)
value = bytes(40_000)
batch = [stage.unit("echo", value) for _ in range(600)]
stage.pool.start_all(batch)
sys.exit(any(stage.outcome(ticket).kind is not Kind.VALUE for ticket, _ in batch))
"""


def test_more_large_values_than_the_kernel_lets_a_user_send_at_once() -> None:
    """The kernel limits the descriptors in flight by those that may be open, except for root."""
    drop = ["setpriv", "--bounding-set=-sys_resource,-sys_admin"] if os.getuid() == 0 else []
    words = [*drop, sys.executable, "-c", UNPRIVILEGED]
    done = subprocess.run(words, timeout=PATIENCE, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr


def test_a_closed_pool_is_silent_and_leaves_nothing(tmp_path: Path) -> None:
    """The children are gone when close returns, and what they started soon after."""
    stage, note = Stage(1), tmp_path / "note"
    stage.start("start_and_hang", str(note))
    wait_until(note.exists, PATIENCE)
    pids = [int(text) for text in note.read_text().split()]
    stage.pool.close()
    wait_until(lambda: all(map(gone, pids)), PATIENCE)
    stage.start("add", 1)
    assert stage.quiet()


def test_deliver_may_start_the_next_unit() -> None:
    """`deliver` may start units from the pool's own thread, and may raise."""
    results: queue.Queue[int] = queue.Queue()

    def deliver(outcomes: Sequence[Outcome]) -> None:
        (outcome,) = outcomes
        value = wire.unpack(outcome.value)
        results.put(value)
        if value < 5:
            pool.start(value + 1, Unit(f"{HERE}.units:add", wire.pack_call(value, 1)))
        if value == 2:
            raise RuntimeError("a bug of the application's, which ends nothing")

    pool = Pool(1, deliver)
    pool.start(0, Unit(f"{HERE}.units:add", wire.pack_call(0)))
    assert [results.get(timeout=PATIENCE) for _ in range(6)] == [0, 1, 2, 3, 4, 5]
    pool.close()
