"""The table of coverage, in which files are summed up by package."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from tools.coverage_table import package_of, table

ROOT = Path(__file__).parents[2]


def summary(statements: int, lines: int, branches: int, taken: int) -> dict[str, dict[str, int]]:
    return {
        "summary": {
            "num_statements": statements,
            "covered_lines": lines,
            "num_branches": branches,
            "covered_branches": taken,
        }
    }


REPORT = {
    "files": {
        "src/steelyard/core/fleet.py": summary(60, 60, 20, 15),
        "src/steelyard/core/scaling/step.py": summary(40, 20, 0, 0),
        "src/steelyard/cli/up.py": summary(10, 5, 4, 1),
        "src/steelyard/errors.py": summary(8, 8, 0, 0),
    }
}


@pytest.mark.parametrize(
    ("file", "package"),
    [
        ("src/steelyard/core/scaling/step.py", "core"),
        ("/a/checkout/src/steelyard/cli/up.py", "cli"),
        ("src/steelyard/errors.py", "steelyard"),
    ],
)
def test_a_file_belongs_to_the_package_below_the_root(file: str, package: str) -> None:
    """Packages inside a package have no row of their own."""
    assert package_of(file) == package


def test_files_of_a_package_share_a_row() -> None:
    """Statements and branches are summed before the share is taken; 0 branches have no share."""
    assert [line.split() for line in table(REPORT)[1:]] == [
        ["cli", "10", "50.0", "%", "4", "25.0", "%"],
        ["core", "100", "80.0", "%", "20", "75.0", "%"],
        ["steelyard", "8", "100.0", "%", "0", "-"],
        ["all", "of", "these", "118", "78.8", "%", "24", "66.7", "%"],
    ]


def test_packages_that_were_not_asked_for_are_left_out() -> None:
    """The last row sums up the rows above it and nothing else."""
    assert [line.split()[0] for line in table(REPORT, ["cli"])] == ["package", "cli", "all"]
    assert table(REPORT, ["cli"])[-1].split()[3:] == ["10", "50.0", "%", "4", "25.0", "%"]


def test_a_child_in_another_folder_is_measured(tmp_path: Path) -> None:
    """The project's settings reach children of a traced process, and name the same files."""
    child = "from steelyard.core import usage"
    parent = tmp_path / "parent.py"
    parent.write_text(
        "import subprocess, sys\n"
        f"words = [sys.executable, '-P', '-c', {child!r}]\n"
        f"subprocess.run(words, cwd={str(tmp_path)!r}, check=True)\n"
    )
    tool = [sys.executable, "-m", "coverage"]
    # This test itself may run traced.
    outer = {key: value for key, value in os.environ.items() if not key.startswith("COVERAGE_")}
    data, report = f"--data-file={tmp_path / 'part'}", tmp_path / "report.json"
    for words in (
        ["run", data, parent],
        ["combine", "--quiet", data],
        ["json", "--quiet", data, "-o", report],
    ):
        subprocess.run([*tool, *words], cwd=ROOT, env=outer, check=True)
    found = json.loads(report.read_text())["files"]
    assert found["src/steelyard/core/usage.py"]["summary"]["covered_lines"] > 0
    assert found["src/steelyard/core/fleet.py"]["summary"]["covered_lines"] == 0
