"""The process that forks children, and its end."""

from __future__ import annotations

import os
import signal
import socket
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import psutil
import pytest

from steelyard.mesh.execution import wire
from steelyard.mesh.execution.nursery import Nursery
from steelyard.mesh.execution.outcome import Kind
from steelyard.mesh.execution.slots import Slots
from tests.mesh.execution.stage import HERE, PATIENCE, Stage, gone
from tests.waiting import wait_until

PARENT = """
import sys, time
from steelyard.mesh.execution import wire
from steelyard.mesh.execution.pool import Pool
from steelyard.mesh.execution.unit import Unit
pool = Pool(1, print)
pool.start(1, Unit(sys.argv[1], wire.pack_call(sys.argv[2])))
time.sleep(1000)
"""


def test_a_unit_that_is_cancelled_does_not_run_again_after_its_nursery(
    alone: Stage, tmp_path: Path
) -> None:
    """The unit's child was being killed when all children were lost."""
    note = tmp_path / "note"
    ticket = alone.start("note_and_wait", str(note), str(tmp_path / "go"))
    wait_until(note.exists, PATIENCE)
    nursery = psutil.Process(psutil.Process(int(note.read_text().split()[0])).ppid())
    nursery.suspend()
    alone.pool.cancel(ticket)
    nursery.kill()
    assert alone.outcome(ticket).kind is Kind.CANCELLED


def test_the_nursery_may_die(alone: Stage, tmp_path: Path) -> None:
    """Another nursery replaces it, and no unit is blamed."""
    batch = [alone.unit("kill_nursery_once", str(tmp_path / "mark")), alone.unit("echo", 1)]
    alone.pool.start_all(batch)
    values = [wire.unpack(alone.outcome(ticket).value) for ticket, _ in batch]
    assert values == ["survived", 1]


def test_preloading_what_cannot_be_imported_hurts_nobody() -> None:
    """A module that ends the nursery is left to the children, which report it."""
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


def test_a_nursery_ends_quietly_when_its_pool_was_killed() -> None:
    """Messages that the killed pool had not read reset the connection, which is no error."""
    pools, its = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    slots, fd = Slots.create(1)
    os.close(fd)
    with its, ThreadPoolExecutor() as threads:
        run = threads.submit(Nursery(its, slots).run)
        assert pools.recv(256, socket.MSG_PEEK) == b"up"  # the message is there, and is not taken
        pools.close()
        run.result(PATIENCE)
    slots.close()


def test_a_child_that_cannot_be_forked_is_told_of(monkeypatch: pytest.MonkeyPatch) -> None:
    """The pool asks again in a moment, as the machine may have no room for a process."""

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


@pytest.mark.parametrize("whom", ["node", "nursery"])
def test_children_die_with_their_parents(whom: str, tmp_path: Path) -> None:
    """A unit that holds the interpreter's lock ends, too, when a parent is killed with -9."""
    note = tmp_path / "note"
    words = [sys.executable, "-c", PARENT, f"{HERE}.units:start_and_hang", str(note)]
    with subprocess.Popen(words) as node:
        wait_until(note.exists, PATIENCE)
        pid, program, nursery = map(int, note.read_text().split())
        try:
            os.kill(node.pid if whom == "node" else nursery, signal.SIGKILL)
            wait_until(lambda: gone(pid) and gone(nursery), PATIENCE)
            if whom == "node":
                wait_until(lambda: gone(program), PATIENCE)
        finally:
            node.kill()
            if not gone(program):
                os.kill(program, signal.SIGKILL)
