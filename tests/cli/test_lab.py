"""`steelyard lab`, run as users run it."""

from __future__ import annotations

import csv
import json
import subprocess
import sys

import pytest

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
