"""Prints branch coverage by package: `python -m tools.coverage_table FILE [PACKAGE...]`.

FILE is written by `coverage json`. With packages named, only their rows are printed: a pass that
runs the tests of two packages says nothing about the others.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path, PurePath
from typing import Any

ROOT = "steelyard"


@dataclass(slots=True)
class Counts:
    """Statements and branches of some files, and how many of them the tests reached."""

    statements: int = 0
    statements_reached: int = 0
    branches: int = 0
    branches_reached: int = 0

    def add(self, summary: Mapping[str, Any]) -> None:
        self.statements += summary["num_statements"]
        self.statements_reached += summary["covered_lines"]
        self.branches += summary["num_branches"]
        self.branches_reached += summary["covered_branches"]

    def row(self, name: str) -> str:
        statements = _share(self.statements_reached, self.statements)
        branches = _share(self.branches_reached, self.branches)
        return f"{name:<12} {self.statements:>10} {statements:>8} {self.branches:>9} {branches:>8}"


def table(report: Mapping[str, Any], wanted: Collection[str] = ()) -> list[str]:
    """One row for each package, and one for their sum."""
    packages: dict[str, Counts] = {}
    total = Counts()
    for file, found in report["files"].items():
        name = package_of(file)
        if not wanted or name in wanted:
            packages.setdefault(name, Counts()).add(found["summary"])
            total.add(found["summary"])
    return list(_lines(packages, total))


def package_of(file: str) -> str:
    """The package directly below `steelyard`; modules beside the packages count as `steelyard`."""
    parts = PurePath(file).parts
    below = parts[parts.index(ROOT) + 1 :]
    return below[0] if len(below) > 1 else ROOT


def _lines(packages: Mapping[str, Counts], total: Counts) -> Iterator[str]:
    yield f"{'package':<12} {'statements':>10} {'reached':>8} {'branches':>9} {'reached':>8}"
    for name, counts in sorted(packages.items()):
        yield counts.row(name)
    yield total.row("all of these")


def _share(part: int, whole: int) -> str:
    return f"{100 * part / whole:.1f} %" if whole else "-"


def main(arguments: Sequence[str]) -> int:
    """Print the table of one report."""
    report = json.loads(Path(arguments[0]).read_text())
    sys.stdout.write("\n".join(table(report, arguments[1:])) + "\n")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
