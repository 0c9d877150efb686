"""Capturing what units print."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from steelyard.mesh.execution import capture
from steelyard.mesh.execution.outcome import Kind
from tests.mesh.execution.stage import PATIENCE, Stage
from tests.waiting import wait_until

pytestmark = pytest.mark.xdist_group("capture")  # most tests of this file share a pool


def test_everything_that_is_printed_is_captured(stage: Stage) -> None:
    """Output from Python, C, descriptors and programs is captured, in order, for this unit only."""
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
    """The output of earlier units is gone, and so is the file position."""
    assert [alone.run("print_much", 3).output for _ in range(2)] == [b"xxxthe end\n"] * 2


def test_of_much_output_the_end_is_kept(stage: Stage) -> None:
    """The end of long output is kept, with a note about the rest."""
    output = stage.run("print_much", 1_000_000).output
    assert len(output) < 20_000
    assert output.endswith(b"xthe end\n")
    assert b"left out" in output


def test_output_without_end_is_thrown_away(
    alone: Stage, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Endless output is discarded before it fills the machine, and the unit goes on."""
    monkeypatch.setattr(capture, "FULL", 1000)
    note, go = tmp_path / "note", tmp_path / "go"
    ticket = alone.start("print_and_wait", 2000, str(note), str(go))
    wait_until(note.exists, PATIENCE)
    (line,) = alone.pool._keeper._brood.lines
    wait_until(lambda: os.fstat(line.output).st_size == 0, PATIENCE)
    go.touch()
    got = alone.outcome(ticket)
    assert (got.kind, got.output) == (Kind.VALUE, b"")
