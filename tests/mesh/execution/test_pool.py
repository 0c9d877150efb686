"""A pool with real children, and units that do to them what they can."""

from __future__ import annotations

import os
import queue
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy
import psutil
import pytest

from steelyard.mesh.execution import capture, wire
from steelyard.mesh.execution.nursery import Nursery
from steelyard.mesh.execution.orders import read_answer, send_answer
from steelyard.mesh.execution.outcome import Failure, Kind, Outcome
from steelyard.mesh.execution.parcel import Receiver
from steelyard.mesh.execution.pool import Pool
from steelyard.mesh.execution.slots import Slots
from steelyard.mesh.execution.unit import Unit

HERE = "tests.mesh.execution"
PATIENCE = 120.0  # seconds; nothing that works takes so long

pytestmark = pytest.mark.xdist_group("pool")  # most of them share one


class Stage:
    """A pool, and what it told."""

    def __init__(self, children: int, preload: tuple[str, ...] = ()) -> None:
        self._told: queue.Queue[Outcome] = queue.Queue()
        self._early: dict[int, Outcome] = {}
        self._next = 0
        self.pool = Pool(children, self._tell, preload=preload)

    def _tell(self, outcomes: Sequence[Outcome]) -> None:
        for one in outcomes:
            self._told.put(one)

    def unit(self, name: str, *args: Any, **limits: Any) -> tuple[int, Unit]:
        self._next += 1
        function = name if ":" in name else f"{HERE}.units:{name}"
        return self._next, Unit(function, wire.pack_call(*args), **limits)

    def start(self, name: str, *args: Any, **limits: Any) -> int:
        ticket, unit = self.unit(name, *args, **limits)
        self.pool.start(ticket, unit)
        return ticket

    def outcome(self, ticket: int) -> Outcome:
        while ticket not in self._early:
            one = self._told.get(timeout=PATIENCE)
            assert one.ticket not in self._early, "told twice"
            self._early[one.ticket] = one
        return self._early[ticket]

    def run(self, name: str, *args: Any, **limits: Any) -> Outcome:
        return self.outcome(self.start(name, *args, **limits))

    def value(self, name: str, *args: Any, **limits: Any) -> Any:
        got = self.run(name, *args, **limits)
        assert got.kind is Kind.VALUE, why(got)
        return wire.unpack(got.value)

    def quiet(self) -> bool:
        return self._told.empty()


def why(outcome: Outcome) -> Failure:
    return wire.unpack_failure(outcome.value)


@pytest.fixture(scope="module")
def shared() -> Iterator[Stage]:
    with pytest.MonkeyPatch.context() as patch:
        patch.delenv("PYTHONUNBUFFERED", raising=False)  # or it would be it that C's output shows
        stage = Stage(2)
        yield stage
    stage.pool.close()


@pytest.fixture
def stage(shared: Stage) -> Iterator[Stage]:
    """Two children; after whatever a test did, the pool works as before."""
    yield shared
    assert shared.value("add", 1, 2) == 3
    assert shared.pool.free == 2


@pytest.fixture
def alone() -> Iterator[Stage]:
    """One child."""
    stage = Stage(1)
    yield stage
    stage.pool.close()


def gone(pid: int) -> bool:
    """Whether a process has ended; a zombie has."""
    try:
        return psutil.Process(pid).status() == psutil.STATUS_ZOMBIE
    except psutil.NoSuchProcess:
        return True


def wait_until(true: Any) -> None:
    deadline = time.monotonic() + PATIENCE
    while not true():
        assert time.monotonic() < deadline
        time.sleep(0.01)


def test_a_function_is_called_with_its_arguments(stage: Stage) -> None:
    """By name, in another process, and timed."""
    got = stage.run("add", 1, 2)
    assert (got.kind, wire.unpack(got.value), got.output) == (Kind.VALUE, 3, b"")
    assert 0 <= got.seconds < PATIENCE
    assert stage.value("pid") != os.getpid()


def test_a_decorated_function_is_run_as_it_is_decorated(stage: Stage) -> None:
    """What its module holds under the name is what is called."""
    assert stage.value("decorated", 1) == 2


def test_large_arrays_go_both_ways(stage: Stage) -> None:
    """Larger than any socket's buffer, and read-only where they arrive."""
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
    """As an error of the unit, whose function was not called; its child goes on."""
    ticket, unit = stage.unit("echo", 1)
    stage.pool.start(ticket, replace(unit, arguments=b"\xc1"))
    failure = why(stage.outcome(ticket))
    assert failure.type == "TypeError"
    assert "the arguments of tests.mesh.execution.units:echo" in failure.message
    assert stage.value("echo", 1) == 1


def test_a_unit_that_leaves_no_descriptors_hurts_nobody_else() -> None:
    """Large arguments come as a file: a child that cannot open it ends, and another one does."""
    alone = Stage(1)
    assert alone.value("use_up_descriptors") > 0
    assert len(alone.value("echo", bytes(1_000_000))) == 1_000_000
    alone.pool.close()


def test_an_answer_without_its_value_is_none() -> None:
    """The pool had no descriptor left for it; the unit is tried again."""
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
    """Its beginning and its end."""
    failure = why(stage.run("fail_at_length", 10_000_000))
    assert failure.message.startswith("xxx")
    assert len(failure.message) + len(failure.traceback) < 200_000


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
    """How its child ended, and what it printed before."""
    got = stage.run(name, *args)
    assert got.kind is Kind.CRASHED
    assert how in why(got).message
    assert got.output.startswith(printed)


def test_a_child_that_cannot_say_what_happened_ends_alone(stage: Stage, tmp_path: Path) -> None:
    """A daemon closes everything; its sibling is at work all the while."""
    note, go = tmp_path / "note", tmp_path / "go"
    innocent = stage.start("note_and_wait", str(note), str(go))
    wait_until(note.exists)
    assert {stage.run("close_descriptors", 0).kind for _ in range(6)} == {Kind.CRASHED}
    go.touch()
    assert stage.outcome(innocent).kind is Kind.VALUE


def test_what_a_unit_started_ends_with_its_child(stage: Stage, tmp_path: Path) -> None:
    """Also when it is the unit that ends the child."""
    note = tmp_path / "note"
    assert stage.run("start_and_leave", str(note)).kind is Kind.CRASHED
    wait_until(lambda: gone(int(note.read_text())))


def test_when_memory_is_short_children_go_first(stage: Stage) -> None:
    """The kernel takes a unit, which is tried again, and not the node."""
    score = Path(f"/proc/{stage.value('pid')}/oom_score_adj")
    assert int(score.read_text()) >= 500


def test_in_a_batch_exactly_the_poison_is_blamed(stage: Stage) -> None:
    """Units queued behind it at the same child are run; each has one outcome."""
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
    """Even one that no thread of its process could end."""
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
    """The unit, and nobody else, hears of it; without an allowance there is none."""
    assert stage.run("allocate", 200_000_000, memory=50_000_000).kind is Kind.EXCESS
    assert stage.value("allocate", 20_000_000, memory=50_000_000) == 20_000_000
    assert stage.value("allocate", 200_000_000) == 200_000_000


def test_everything_that_is_printed_is_captured(stage: Stage) -> None:
    """From Python, from C, through descriptors, by programs, in order, and of this unit only."""
    got = stage.run("print_everywhere")
    assert got.output.decode().splitlines() == [
        "from Python",
        "to a descriptor",
        "from C",
        "by a program",
        "as an error",
    ]
    assert stage.run("add", 1).output == b""


def test_the_next_unit_of_a_child_prints_from_the_beginning(alone: Stage) -> None:
    """Nothing is left of what was printed before, not even its place."""
    assert [alone.run("print_much", 3).output for _ in range(2)] == [b"xxxthe end\n"] * 2


def test_of_much_output_the_end_is_kept(stage: Stage) -> None:
    """And how much there was before."""
    output = stage.run("print_much", 1_000_000).output
    assert len(output) < 20_000
    assert output.endswith(b"xthe end\n")
    assert b"left out" in output


def test_output_without_end_is_thrown_away(
    alone: Stage, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Before it fills the machine; the unit goes on."""
    monkeypatch.setattr(capture, "FULL", 1000)
    note, go = tmp_path / "note", tmp_path / "go"
    ticket = alone.start("print_and_wait", 2000, str(note), str(go))
    wait_until(note.exists)
    (line,) = alone.pool._keeper._brood.lines
    wait_until(lambda: os.fstat(line.output).st_size == 0)
    go.touch()
    got = alone.outcome(ticket)
    assert (got.kind, got.output) == (Kind.VALUE, b"")


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
    """What is missing, and where."""
    got = stage.run(name)
    assert got.kind is Kind.UNKNOWN
    assert said in why(got).message


def test_a_unit_that_forks_answers_once(stage: Stage) -> None:
    """The other process ends where the unit does."""
    ticket = stage.start("fork")
    assert wire.unpack(stage.outcome(ticket).value) == "parent"
    assert stage.value("add", 1) == 1
    assert stage.quiet()


def test_what_is_behind_a_slow_unit_goes_to_others(stage: Stage, tmp_path: Path) -> None:
    """Units that were handed out ahead are taken back while the child is busy."""
    for _ in range(20):  # short ones, so that many are given ahead
        stage.value("add", 1)
    go = tmp_path / "go"
    slow, *rest = [stage.unit("wait_for", str(go)), *(stage.unit("echo", n) for n in range(30))]
    stage.pool.start_all([slow, *rest])
    for number, (ticket, _) in enumerate(rest):
        assert wire.unpack(stage.outcome(ticket).value) == number
    go.touch()
    assert stage.outcome(slow[0]).kind is Kind.VALUE


def test_nothing_stays_behind_a_slow_unit_while_there_is_always_more(tmp_path: Path) -> None:
    """Nor do others ever run out of work, so that it would be taken back for them."""

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
    wait_until(note.exists)
    stage.pool.start_all(rest)
    for ticket, _ in rest:
        assert stage.outcome(ticket).kind is Kind.VALUE
    go.touch()
    stage.pool.close()


def test_cancelling_a_unit_that_runs(stage: Stage, tmp_path: Path) -> None:
    """Its child is killed, and with it what it started."""
    note = tmp_path / "note"
    ticket = stage.start("start_and_hang", str(note))
    wait_until(note.exists)
    pid, program, _ = map(int, note.read_text().split())
    stage.pool.cancel(ticket)
    assert stage.outcome(ticket).kind is Kind.CANCELLED
    wait_until(lambda: gone(pid) and gone(program))


def test_cancelling_units_that_wait(alone: Stage, tmp_path: Path) -> None:
    """At the child or in the backlog; those not cancelled are run."""
    note, go = tmp_path / "note", tmp_path / "go"
    first = alone.start("note_and_wait", str(note), str(go))
    wait_until(note.exists)
    batch = [alone.unit("echo", number) for number in range(6)]
    alone.pool.start_all(batch)
    unwanted = [ticket for ticket, _ in batch[::2]]
    for ticket in unwanted:
        alone.pool.cancel(ticket)
    assert {alone.outcome(ticket).kind for ticket in unwanted} == {Kind.CANCELLED}
    go.touch()
    assert alone.outcome(first).kind is Kind.VALUE
    assert [wire.unpack(alone.outcome(ticket).value) for ticket, _ in batch[1::2]] == [1, 3, 5]
    alone.pool.cancel(first)  # over and done with
    assert alone.value("add", 1) == 1


def test_what_no_child_has_begun_can_be_recalled(alone: Stage, tmp_path: Path) -> None:
    """It has no outcome then; what runs goes on, and what comes later is run."""
    note, go = tmp_path / "note", tmp_path / "go"
    first = alone.start("note_and_wait", str(note), str(go))
    wait_until(note.exists)
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
    """Outcomes may be the reason for a recall, at once, when the child has read nothing yet."""
    back: list[int] = []

    class Recalling(Stage):
        def _tell(self, outcomes: Sequence[Outcome]) -> None:
            if any(one.kind is Kind.CRASHED for one in outcomes):
                back.extend(self.pool.recall())
            super()._tell(outcomes)

    stage = Recalling(1)
    for _ in range(60):  # short ones, so that many are given ahead
        stage.value("add", 1)
    bad, large = stage.unit("kill_self"), bytes(30_000)
    others = [stage.unit("echo", large) for _ in range(20)]
    stage.pool.start_all([bad, *others])
    assert stage.outcome(bad[0]).kind is Kind.CRASHED
    done = {ticket for ticket, _ in others} - set(back)  # the new child may have begun already
    assert len(done) < 20
    assert {stage.outcome(ticket).kind for ticket in done} <= {Kind.VALUE}
    assert stage.value("add", 1) == 1
    stage.pool.close()


def test_a_unit_that_is_cancelled_does_not_run_again_after_its_nursery(
    alone: Stage, tmp_path: Path
) -> None:
    """It was being killed when all children were lost."""
    note = tmp_path / "note"
    ticket = alone.start("note_and_wait", str(note), str(tmp_path / "go"))
    wait_until(note.exists)
    nursery = psutil.Process(psutil.Process(int(note.read_text().split()[0])).ppid())
    nursery.suspend()
    alone.pool.cancel(ticket)
    nursery.kill()
    assert alone.outcome(ticket).kind is Kind.CANCELLED


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
    """They go as files, of which so many may be under way as may be open; root is exempt."""
    drop = ["setpriv", "--bounding-set=-sys_resource,-sys_admin"] if os.getuid() == 0 else []
    words = [*drop, sys.executable, "-c", UNPRIVILEGED]
    done = subprocess.run(words, timeout=PATIENCE, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr


def test_the_nursery_may_die(alone: Stage, tmp_path: Path) -> None:
    """Another one takes its place, and nobody is blamed."""
    batch = [alone.unit("kill_nursery_once", str(tmp_path / "mark")), alone.unit("echo", 1)]
    alone.pool.start_all(batch)
    values = [wire.unpack(alone.outcome(ticket).value) for ticket, _ in batch]
    assert values == ["survived", 1]


def test_preloading_what_cannot_be_imported_hurts_nobody() -> None:
    """A module that ends the nursery is left to the children, who say so."""
    stage = Stage(1, preload=(f"{HERE}.broken", f"{HERE}.deadly"))
    assert stage.value("add", 1) == 1
    assert stage.run(f"{HERE}.deadly:f").kind is Kind.CRASHED
    stage.pool.close()


def test_what_starts_threads_is_not_preloaded() -> None:
    """A fork of a process with threads may inherit a lock that nobody releases."""
    for module, kept in (("tests.mesh.jobs", True), (f"{HERE}.threaded", False)):
        stage = Stage(1, preload=(module,))
        assert stage.value("is_imported", module) is kept
        stage.pool.close()


def test_a_closed_pool_is_silent_and_leaves_nothing(tmp_path: Path) -> None:
    """Children are gone when close returns, what they started soon after."""
    stage, note = Stage(1), tmp_path / "note"
    stage.start("start_and_hang", str(note))
    wait_until(note.exists)
    pids = [int(text) for text in note.read_text().split()]
    stage.pool.close()
    wait_until(lambda: all(map(gone, pids)))
    stage.start("add", 1)
    assert stage.quiet()


def test_deliver_may_start_the_next_unit() -> None:
    """From the pool's own thread."""
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


def test_a_nursery_ends_quietly_when_its_pool_was_killed() -> None:
    """Also when that had not read all that it was told, which resets their connection."""
    pools, its = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    slots, fd = Slots.create(1)
    os.close(fd)
    with its, ThreadPoolExecutor() as threads:
        run = threads.submit(Nursery(its, slots).run)
        assert pools.recv(256, socket.MSG_PEEK) == b"up"  # it is told, and does not take it
        pools.close()
        run.result(PATIENCE)
    slots.close()


def test_a_child_that_cannot_be_forked_is_told_of(monkeypatch: pytest.MonkeyPatch) -> None:
    """The pool asks again in a moment: it may be the machine that has no room."""

    def full() -> int:
        raise BlockingIOError

    monkeypatch.setattr(os, "fork", full)
    pools, its = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    slots, fd = Slots.create(1)
    pools.settimeout(PATIENCE)
    with its, ThreadPoolExecutor() as threads, pools:
        threads.submit(Nursery(its, slots).run)
        assert pools.recv(256) == b"up"
        socket.send_fds(pools, [b"fork 0"], [fd, fd])
        assert pools.recv(256) == b"ended 0 -1"
    os.close(fd)
    slots.close()


PARENT = """
import sys, time
from steelyard.mesh.execution import wire
from steelyard.mesh.execution.pool import Pool
from steelyard.mesh.execution.unit import Unit
pool = Pool(1, print)
pool.start(1, Unit(sys.argv[1], wire.pack_call(sys.argv[2])))
time.sleep(1000)
"""


@pytest.mark.parametrize("whom", ["node", "nursery"])
def test_children_die_with_their_parents(whom: str, tmp_path: Path) -> None:
    """Killed with -9, while a unit holds the interpreter's lock: it ends all the same."""
    note = tmp_path / "note"
    words = [sys.executable, "-c", PARENT, f"{HERE}.units:start_and_hang", str(note)]
    with subprocess.Popen(words) as node:
        wait_until(note.exists)
        pid, program, nursery = map(int, note.read_text().split())
        try:
            os.kill(node.pid if whom == "node" else nursery, signal.SIGKILL)
            wait_until(lambda: gone(pid) and gone(nursery))
            if whom == "node":
                wait_until(lambda: gone(program))
        finally:
            node.kill()
            if not gone(program):
                os.kill(program, signal.SIGKILL)
