"""The lines that `steelyard mesh run` reads and writes."""

from __future__ import annotations

import io
import json
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from steelyard.cli.mesh_lines import line_of, read_calls, row_of
from steelyard.cli.mesh_run import _write
from steelyard.errors import UsageError
from steelyard.mesh.answer import Answer
from steelyard.mesh.execution.outcome import Failure
from steelyard.mesh.execution.wire import pack, pack_failure
from steelyard.mesh.job import Job
from steelyard.mesh.protocol.lifecycle import State


def read(path: Path, data: bytes, *, spread: bool = False) -> list[list[Any]]:
    path.write_bytes(data)
    return list(read_calls(path, spread))


@pytest.mark.parametrize(
    ("data", "calls"),
    [
        (b"1\n2", [[1], [2]]),
        (b"1\r\n\n \n2\r\n", [[1], [2]]),
        (b"\xef\xbb\xbf1\n", [[1]]),
        (b"[1,\r2]\n", [[[1, 2]]]),
        ('"a\u2028b\u2029c\x85d"\n'.encode(), [["a\u2028b\u2029c\x85d"]]),
        (b"", []),
    ],
)
def test_a_line_ends_where_json_lines_end(
    tmp_path: Path, data: bytes, calls: list[list[Any]]
) -> None:
    """Lines end only at a newline, and a byte order mark is not part of the first line."""
    assert read(tmp_path / "units", data) == calls


def test_lines_may_come_from_standard_input(monkeypatch: pytest.MonkeyPatch) -> None:
    """Standard input is split into lines in the same way."""
    data = '"a\u2028b"\n'.encode()
    monkeypatch.setattr("sys.stdin", SimpleNamespace(buffer=io.BytesIO(data)))
    assert list(read_calls(Path("-"), False)) == [["a\u2028b"]]


@pytest.mark.parametrize(
    ("line", "told"),
    [
        (b"{", "units, line 2: Expecting property name"),
        (b'"\xe4"', "units, line 2 is not UTF-8: "),
        (b"123456789012345678901234567", "units, line 2 cannot be sent: "),
        (b'"\\ud800"', "units, line 2 cannot be sent: "),
        pytest.param(b"[" * 100_000, "units, line 2: ", id="deep"),
    ],
)
def test_a_line_that_is_no_unit_is_told(tmp_path: Path, line: bytes, told: str) -> None:
    """A line that is not a unit is reported by file and number, before anything runs."""
    with pytest.raises(UsageError) as caught:
        read(tmp_path / "units", b"[1]\n" + line + b"\n")
    assert told in caught.value.message
    assert caught.value.hint


def test_a_line_that_is_to_be_spread_is_a_list(tmp_path: Path) -> None:
    """With --spread, each line must be a list of arguments."""
    assert read(tmp_path / "units", b"[1, 2]\n", spread=True) == [[1, 2]]
    with pytest.raises(UsageError, match="line 1 is not a list"):
        read(tmp_path / "units", b"1\n", spread=True)


@pytest.mark.parametrize(
    ("value", "written"),
    [
        ({"a": [1, None, "ä\u2028"]}, {"a": [1, None, "ä\u2028"]}),
        (b"abc", "YWJj"),
        ({b"abc": b"abc"}, {"YWJj": "YWJj"}),
        ({1: {2.5: {None: {True: b"abc"}}}}, {"1": {"2.5": {"null": {"true": "YWJj"}}}}),
        ([float("nan"), float("inf"), -float("inf")], ["NaN", "Infinity", "-Infinity"]),
        ({float("nan"): 1j}, {"NaN": "1j"}),
        ({1j: 1}, {"1j": 1}),
        (np.array([[1.5, np.nan]]), [[1.5, "NaN"]]),
        ({b"abc": np.array([1, 2])}, {"YWJj": [1, 2]}),
    ],
)
def test_every_value_has_a_line(value: object, written: object) -> None:
    """Every value is written as valid JSON, which has no NaN."""
    row = row_of(Answer(1, State.DONE, pack(value)))
    line = line_of(row)
    assert row["ok"]
    assert line.count(b"\n") == 1
    assert json.loads(line, parse_constant=pytest.fail)["value"] == written


def test_a_unit_that_raised_says_where() -> None:
    """The row of a unit that raised has its traceback."""
    failure = Failure("ValueError", "no", "Traceback: tiles.py, line 3")
    row = row_of(Answer(1, State.RAISED, pack_failure(failure)))
    assert "ValueError: no" in row["error"]
    assert row["traceback"] == "Traceback: tiles.py, line 3"


def test_a_line_has_what_its_unit_printed() -> None:
    """A row has the unit's output only if there is any."""
    assert row_of(Answer(1, State.DONE, pack(1), "hello\n"))["output"] == "hello\n"
    assert "output" not in row_of(Answer(1, State.DONE, pack(1)))


def test_one_failure_is_one_too_many() -> None:
    """One failed unit makes the job fail, even if others succeed later."""
    job = Job(2, lambda: 1, lambda: None)
    job.admit(2)
    job.deliver([Answer(1, State.RAISED), Answer(2, State.DONE, pack(1))])
    job.seal()
    file = io.BytesIO()
    assert not _write(job, 2, file)
    assert [json.loads(line)["ok"] for line in file.getvalue().splitlines()] == [False, True]


def test_a_value_that_cannot_be_read_is_a_failure() -> None:
    """A value that cannot be unpacked fails its unit, not the job."""
    row = row_of(Answer(1, State.DONE, b"\xc1"))
    assert not row["ok"]
    assert "is not a packed value" in json.loads(line_of(row))["error"]
