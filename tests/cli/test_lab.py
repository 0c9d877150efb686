"""`steelyard lab`, run as users run it."""

from __future__ import annotations

import csv
import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from steelyard.cli.lab_compare import _play
from steelyard.cli.main import build_app
from steelyard.errors import UsageError
from steelyard.lab.job import Job
from steelyard.lab.real import LINE, PULL

# Imitates a machine without the extra: numpy and matplotlib cannot be found.
WITHOUT = """
import sys
class Missing:
    def find_spec(self, name, path=None, target=None):
        if name.partition(".")[0] in {"numpy", "matplotlib"}:
            raise ModuleNotFoundError(name=name)
sys.meta_path.insert(0, Missing())
from steelyard.cli.main import run
run()
"""


def run(*words: str, program: tuple[str, ...] = ("-m", "steelyard")):
    return subprocess.run(
        [sys.executable, *program, *words], capture_output=True, text=True, timeout=120
    )


def test_without_its_libraries_the_lab_says_how_to_get_them():
    """Without its libraries, the lab names them, and every other command works."""
    done = run("lab", "validate", program=("-c", WITHOUT))
    assert done.returncode == 1
    assert "the lab needs numpy" in done.stderr
    assert "pip install 'steelyard[lab]'" in done.stderr
    assert run("--version", program=("-c", WITHOUT)).returncode == 0


def test_an_experiment_prints_json_and_writes_tables_figure_and_page(tmp_path):
    """One run writes JSON, tables, the figure and the page."""
    page = tmp_path / "lab.md"
    done = run("lab", "efficiency", "--runs", "2", "--json", "--out", str(tmp_path / "files"),
               "--page", str(page))  # fmt: skip
    assert done.returncode == 0, done.stderr
    told = json.loads(done.stdout)
    assert {table["name"] for table in told["tables"]} == {"shares", "eta", "load"}
    names = {file.name for file in (tmp_path / "files").iterdir()}
    assert {"efficiency-eta.csv", "efficiency.svg", "efficiency.png"} <= names
    with (tmp_path / "files" / "efficiency-eta.csv").open() as lines:
        assert [row["policy"] for row in csv.DictReader(lines)][:2] == [
            "weighted_random",
            "weighted_ring",
        ]
    text = page.read_text()
    assert "](files/efficiency.svg)" in text
    assert "`steelyard lab efficiency --runs 2 --json`" in text
    assert told["reading"] in text


def test_a_folder_that_cannot_be_is_told_before_the_work(tmp_path):
    """An output folder that is a file is refused before the work begins."""
    (tmp_path / "taken").touch()
    done = run("lab", "efficiency", "--out", str(tmp_path / "taken"))
    assert done.returncode == 2
    assert "--out" in done.stderr
    assert "Traceback" not in done.stderr


@pytest.mark.parametrize("words", [("--runs", "0"), ("--requests", "-5"), ("--seed", "-1")])
def test_a_number_out_of_range_is_named(words):
    """A number out of range is refused, with the option's name."""
    done = run("lab", "efficiency", *words)
    assert done.returncode == 2
    assert words[0] in done.stderr


def test_a_job_without_survivors_is_an_error_a_person_can_read():
    """A job without surviving nodes is refused without a traceback."""
    done = run("lab", "compare", "--nodes", "2", "--dying", "1")
    assert done.returncode == 2
    assert "2 of 2 nodes would die" in done.stderr
    assert "Traceback" not in done.stderr


TRACE = "time,requests\n" + "".join(f"{60 * minute},{600 + 100 * minute}\n" for minute in range(5))


def lab(*words: str) -> tuple[Any, str]:
    """The report in JSON of a run in this process, then the text of another."""
    done = CliRunner().invoke(build_app(), ["lab", *words, "--json"])
    told = json.loads(done.stdout)
    # With so few runs a bar may be missed; then the status says so.
    assert done.exit_code == (0 if all(bar["met"] for bar in told["bars"]) else 1)
    again = CliRunner().invoke(build_app(), ["lab", *words])
    assert again.exit_code == done.exit_code
    return told, again.stdout


@pytest.mark.parametrize(
    "words",
    [
        ("validate", "--requests", "1000"),
        ("timeseries", "--runs", "2", "--seconds", "10"),
        ("compare", "--units", "20", "--nodes", "4", "--runs", "2"),
        ("scaling", "--trace", "trace.csv", "--runs", "1", "--bars", "--fleet", "outline"),
    ],
    ids=lambda words: words[0],
)
def test_every_experiment_runs_small(
    words: tuple[str, ...], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The smallest run is shown with its tables, bars and answer; that of makespan takes longer."""
    monkeypatch.chdir(tmp_path)
    Path("trace.csv").write_text(TRACE)
    told, text = lab(*words)
    assert told["name"].startswith(words[0])
    assert all(table["title"] in text for table in told["tables"] if table["shown"])
    words_of_bars = text.replace("NOT reached: ", "reached: ").count("reached: ")
    assert words_of_bars >= len(told["bars"])
    assert told["answer"].split()[0] in text


@pytest.mark.parametrize("method", [PULL, LINE, "weighted_ring"])
def test_a_job_of_the_comparison_is_played_on_processes(method: str) -> None:
    """Every unit is delivered, however the units get to the nodes."""
    job = Job(works=[0.01] * 6, speeds=[1.0, 0.5], deaths={})
    assert _play(job, method, 2).delivered == 6


def test_real_jobs_need_a_node_that_is_left() -> None:
    """One node is killed, so one alone cannot do the job."""
    error = CliRunner().invoke(build_app(), ["lab", "compare", "--real", "--nodes", "1"]).exception
    assert isinstance(error, UsageError)
    assert error.message == "--real with 1 nodes"
