"""`steelyard bench`: the smallest real run of each command, shown to a person and to a program.

The figures do not matter here, and no bar has to be kept: a busy machine may miss any of them.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner, Result

from steelyard.cli.main import build_app
from steelyard.errors import UsageError

pytestmark = pytest.mark.xdist_group("bench")  # one at a time, as benchmarks are run


def bench(*words: str) -> Result:
    """Run the command in this process, whose libraries are loaded."""
    return CliRunner().invoke(build_app(), ["bench", *words])


def told(*words: str) -> Any:
    """What a program is told."""
    done = bench(*words, "--json")
    assert done.exit_code == 0, done.output
    return json.loads(done.stdout)


def shown(*words: str, page: Path) -> str:
    """What a person is shown; the page gets a section."""
    done = bench(*words, "--out", str(page))
    assert done.exit_code == 0, done.output
    assert f"wrote {page}" in done.stderr.replace("\n", "")
    return done.stdout


MESH = ("mesh", "--rounds", "1", "--short", "4", "--long", "2", "--no-install", "--only")


def test_units_of_the_mesh_are_measured() -> None:
    """One node and its children run both cases."""
    report = told(*MESH, "steelyard, 1 node")
    assert [line["case"] for line in report["lines"]] == ["4 units of 1 ms", "2 units of 20 ms"]
    assert {line["contender"] for line in report["lines"]} == {"steelyard, 1 node"}
    assert all(line["units_s"] > 0 for line in report["lines"])


def test_units_beside_the_mesh_are_shown(tmp_path: Path) -> None:
    """Bare processes; a contender whose package is missing is named with the reason."""
    page = tmp_path / "benchmarks.md"
    text = shown(*MESH, "bare processes", page=page)
    assert "4 units of 1 ms" in text
    assert "bare processes" in text
    assert "not measured" in text
    assert "| bare processes |" in page.read_text()


def test_a_fault_of_a_node_is_measured_and_shown(tmp_path: Path) -> None:
    """A node is killed; every unit is answered once, and the status says whether the bar holds."""
    done = bench("mesh-faults", "--only", "killed", "--json")
    (finding,) = json.loads(done.stdout)["findings"]
    assert finding["answered_once"]
    assert done.exit_code == (0 if finding["kept"] else 1)
    page = tmp_path / "benchmarks.md"
    done = bench("mesh-faults", "--only", "poisoned", "--out", str(page))
    assert "children lost, 3 tries each" in done.stdout
    assert "2 units of 42 kill their children" in page.read_text()
    assert (done.exit_code == 0) == ("kept" in done.stdout.split())


def test_a_fault_that_does_not_exist_is_told_before_any_node_is_started() -> None:
    """The error lists the faults that exist."""
    error = bench("mesh-faults", "--only", "flooded").exception
    assert isinstance(error, UsageError)
    assert error.message == "no such fault: flooded"
    assert "killed_at_work" in error.hint


def test_a_tail_is_shown(tmp_path: Path) -> None:
    """One contender for one second, told the true weights."""
    page = tmp_path / "benchmarks.md"
    words = ("tail", "--rounds", "1", "--seconds", "1", "--no-install", "--weights", "true")
    text = shown(*words, "--only", "steelyard ring_of_two", page=page)
    assert "tail latency" in text
    assert "steelyard ring_of_two" in text
    assert "steelyard ring_of_two" in page.read_text()


def test_picks_are_shown(tmp_path: Path) -> None:
    """One sample of each case with eight members."""
    text = shown("select", "--rounds", "1", "--seconds", "0.001", "--most", "8",
                 page=tmp_path / "benchmarks.md")  # fmt: skip
    assert "weighted_ring" in text


def test_simulations_are_shown(tmp_path: Path) -> None:
    """A thousand requests of each."""
    page = tmp_path / "benchmarks.md"
    text = shown("lab", "--requests", "1000", page=page)
    assert "simulated requests" in text
    assert "M/M/1" in text
    assert "| M/M/1 | 1,000 |" in page.read_text()


SMALL = ("balancer", "--rounds", "1", "--seconds", "1", "--connections", "2", "--no-install",
         "--only", "pure", "--case", "small")  # fmt: skip


@pytest.mark.needs("wrk")
@pytest.mark.needs("nginx")
def test_requests_are_shown() -> None:
    """One contender and one case."""
    done = bench(*SMALL)
    assert done.exit_code == 0, done.output
    assert "pure" in done.stdout


@pytest.mark.needs("wrk")
@pytest.mark.needs("nginx")
@pytest.mark.needs("openssl")
def test_the_cost_of_tls_is_shown() -> None:
    """One case; the row has four figures and their ratio."""
    done = bench("tls", "--rounds", "1", "--seconds", "1", "--connections", "2", "--case", "kept")
    assert done.exit_code == 0, done.output
    assert "CPU µs per request" in done.stdout
    (row,) = [line for line in done.stdout.splitlines() if "small answers" in line]
    assert len([word for word in row.split() if word.replace(".", "").isdigit()]) == 5
    assert "64 KiB" not in done.stdout


@pytest.mark.needs("wrk")
@pytest.mark.needs("nginx")
def test_a_soak_is_shown(tmp_path: Path) -> None:
    """Five seconds at a low rate, as a table and as a section."""
    page = tmp_path / "benchmarks.md"
    text = shown("soak", "--seconds", "5", "--rate", "100", "--connections", "2", "--no-install",
                 page=page)  # fmt: skip
    assert "requests/s" in text
    assert "| failed | 0 |" in page.read_text()
