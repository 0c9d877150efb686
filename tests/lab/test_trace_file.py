"""Traces from files."""

from __future__ import annotations

import pytest

from steelyard.errors import UsageError
from steelyard.lab.trace_file import read_trace

COMBINED = '127.0.0.1 - - [{}] "GET / HTTP/1.1" 200 5 "-" "curl"'
TIMES = ("10/Oct/2000:13:55:36 -0700", "10/Oct/2000:13:55:39 -0700", "10/Oct/2000:20:56:01 +0000")


def write(folder, *lines: str):
    file = folder / "mine.csv"
    file.write_text("\n".join(lines) + "\n", encoding="utf-8")
    return file


def test_counts_with_dates(tmp_path):
    """The head of a file is skipped, and its last interval is as long as the others."""
    trace = read_trace(
        write(tmp_path, "timestamp,requests", "2024-01-01 00:00:00,60", "2024-01-01 00:01:00,120")
    )
    assert (trace.name, list(trace.edges), list(trace.counts)) == ("mine", [0, 60, 120], [60, 120])
    assert (trace.peak, trace.requests, trace.seconds) == (2.0, 180, 120)


def test_counts_with_seconds_and_a_gap(tmp_path):
    """For missing lines the count before them is repeated."""
    trace = read_trace(write(tmp_path, "0,5", "10,6", "20,7", "50,8", "60,1"))
    assert list(trace.edges) == [0, 10, 20, 30, 40, 50, 60, 70]
    assert list(trace.counts) == [5, 6, 7, 7, 7, 8, 1]


def test_a_combined_log(tmp_path):
    """Lines of any time zone are counted in intervals of ten seconds; an empty one is 0."""
    trace = read_trace(write(tmp_path, *(COMBINED.format(time) for time in TIMES)))
    assert list(trace.counts) == [2, 0, 0, 1]
    assert list(trace.edges) == [0, 10, 20, 30, 40]


def test_our_own_log(tmp_path):
    """A JSON log is in the order in which requests ended."""
    times = ("2024-01-01T00:00:12.500+00:00", "2024-01-01T00:00:11.000+00:00")
    trace = read_trace(write(tmp_path, *(f'{{"time": "{time}", "status": 200}}' for time in times)))
    assert list(trace.counts) == [2]


@pytest.mark.parametrize(
    ("lines", "problem"),
    [
        ((), "the file is empty"),
        (("time,requests",), "one line is not an interval"),
        (("0,1",), "one line is not an interval"),
        (("0,1", "10,-4"), "line 2: a count of -4 at 10"),
        (("0,1", "10,nan"), "line 2: a count of nan at 10"),
        (("0,1", "20,2", "10,3"), "times are not sorted"),
        (("0,1", "0,2"), "times are not sorted"),
        (("0,1", "hello"), "line 2 has no time and count"),
        (("0,1", "10,2", "20,1", "9000,2"), "intervals are missing in one place"),
        (("0,0", "10,0"), "has no requests"),
        (('{"status": 200}',), "line 1 has no time"),
        (('{"time": "2024-01-01T00:00:00Z"}', "{"), "line 2 has no time"),
        ((COMBINED.format(TIMES[0]), "what?"), "line 2 has no time"),
    ],
)
def test_bad_files_are_told(tmp_path, lines, problem):
    """The error says what is wrong, where, and what is expected."""
    with pytest.raises(UsageError, match=problem) as told:
        read_trace(write(tmp_path, *lines))
    assert told.value.hint


def test_no_file(tmp_path):
    """A missing file or a folder is an error."""
    for path in (tmp_path / "none", tmp_path):
        with pytest.raises(UsageError, match="--trace"):
            read_trace(path)
