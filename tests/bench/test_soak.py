"""The soak: a short run, and how it counts."""

from __future__ import annotations

import json
import subprocess
import sys

import pytest

from steelyard.bench.soak.client import slowest
from steelyard.bench.soak.report import Event, Failures, SoakReport
from steelyard.bench.soak.table import page, rows

pytestmark = pytest.mark.xdist_group("bench")  # one at a time, as benchmarks are run

NONE = Failures(connect=0, read=0, write=0, status=0, timeout=0)


@pytest.mark.needs("wrk")
@pytest.mark.needs("nginx")
def test_no_request_fails_while_workers_come_and_go():
    """No request fails in a few seconds, at a rate that leaves time for other tests."""
    words = ["soak", "--seconds", "8", "--rate", "300", "--connections", "8", "--no-install"]
    done = subprocess.run(
        [sys.executable, "-m", "steelyard", "bench", *words, "--json"],
        capture_output=True,
        text=True,
        timeout=180,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    told = json.loads(done.stdout)
    assert 0 < told["rate"] < 330  # the client keeps to the rate it was given
    assert set(told["failures"].values()) == {0}
    assert told["events"][0]["kind"] == "killed"
    assert all(event["settled"] is not None for event in told["events"])


def test_the_slowest_window_is_found():
    """Answers have 100 bytes: 1,000 come per second, except for five seconds with 200."""
    speeds = [1000] * 6 + [200] * 5 + [1000] * 6
    marks = [(float(second), sum(speeds[:second]) * 100) for second in range(len(speeds) + 1)]
    assert slowest(marks, 100) == pytest.approx(200)
    assert slowest(marks[:4], 100) is None


def soaked(**other) -> SoakReport:
    values = {
        "date": "2026-01-01",
        "machine": "a machine",
        "command": "steelyard bench soak",
        "build": "pure Python",
        "workers": 4,
        "connections": 64,
        "wanted": 0,
        "seconds": 60.0,
        "requests": 600_000,
        "slowest": 9000.0,
        "p50_us": 1500.0,
        "p99_us": 9000.0,
        "failures": NONE,
        "events": [Event(at=1.0, kind="killed", worker="w", settled=2.5)],
        "foreign": 0.0,
        "mishaps": [],
    }
    return SoakReport(**{**values, **other})


@pytest.mark.parametrize(
    "flaw",
    [
        {"failures": NONE.model_copy(update={"status": 1})},
        {"requests": 0},
        {"mishaps": ["an error of ours"]},
        {"events": [Event(at=1.0, kind="killed", worker="w", settled=None)]},
    ],
)
def test_one_flaw_spoils_it(flaw):
    """A failed request, no request, a bug of ours or a fleet that is not whole spoils a run."""
    assert soaked().good
    assert not soaked(**flaw).good


def test_the_table_names_what_failed():
    """The table names the failures, and the page says how the soak was run."""
    told = soaked(failures=NONE.model_copy(update={"read": 2, "status": 1}))
    cells = {row[0]: row[1:] for row in rows(told)}
    assert cells["failed"] == ["3", "2 read, 1 status"]
    assert cells["requests/s"][0] == "10,000"
    assert cells["requests/s in the slowest 5 s"] == ["9,000", "10,000 were NOT held all the time"]
    assert cells["events"] == ["1", "1 killed"]
    assert "`steelyard bench soak`" in page(told)
