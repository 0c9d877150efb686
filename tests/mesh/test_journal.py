"""A journal, and what may happen to its file."""

from __future__ import annotations

import sqlite3
from math import inf
from pathlib import Path

import pytest

from steelyard.mesh import journal as journal_module
from steelyard.mesh.journal import Journal, JournalError, Line


def test_a_journal_that_cannot_be_written_for_a_moment_goes_on(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """While another program locks the file, nothing is kept; later lines are."""
    monkeypatch.setattr(journal_module, "BUSY", 0.001)
    journal = Journal(tmp_path / "journal")
    other = sqlite3.connect(tmp_path / "journal", isolation_level=None)
    other.execute("BEGIN IMMEDIATE")
    lines = [Line(journal.key("m:f", arguments), b"", "", 0.0) for arguments in (b"a", b"b", b"c")]
    with pytest.raises(JournalError, match="locked"):
        journal.add(lines[:1])
    journal.add(lines[1:2])  # this one is dropped at once, without waiting
    other.execute("ROLLBACK")
    monkeypatch.setattr(journal, "_until", -inf)  # a while later
    journal.add(lines[2:])
    assert list(journal.find(line.key for line in lines)) == [lines[2].key]
    journal.close()
    with pytest.raises(JournalError, match="cannot be used"):
        journal.find([lines[2].key])
    other.close()


def test_a_line_that_cannot_be_kept_does_not_end_a_journal(tmp_path: Path) -> None:
    """A line that cannot be written is rolled back, and later lines are written."""
    journal = Journal(tmp_path / "journal")
    with pytest.raises(JournalError):
        journal.add([Line(b"one", b"", "", 0.0), Line(b"two", None, "", 0.0)])  # type: ignore[arg-type]
    journal.add([Line(b"three", b"", "", 0.0)])
    assert list(journal.find([b"one", b"two", b"three"])) == [b"three"]
    journal.close()


def test_somebody_elses_file_is_no_journal(tmp_path: Path) -> None:
    """A file with other tables is refused before anything is submitted."""
    with sqlite3.connect(tmp_path / "file") as file:
        file.execute("CREATE TABLE units (number INTEGER)")
    with pytest.raises(JournalError, match="no such column"):
        Journal(tmp_path / "file")
