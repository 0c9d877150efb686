"""The tables of the mesh bench, and its section of docs/benchmarks.md."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

from steelyard.bench.cells import UNKNOWN, number, percent, remarks
from steelyard.bench.mesh.report import Line, MeshReport
from steelyard.markdown import markdown_table

if TYPE_CHECKING:  # the import needs the dependencies of the mesh
    from steelyard.bench.mesh.faults import FaultsReport, Finding

NAME, FAULTS = "mesh", "mesh-faults"
FAULT_COLUMNS = ("", "measured", "at most", "")
COLUMNS = (
    "", "units/s", "of the ideal", "wall µs/unit", "±", "CPU µs/unit", "messages/unit", "remarks",
)  # fmt: skip


def cases(report: MeshReport) -> list[str]:
    """The names of the cases, in order."""
    return list(dict.fromkeys(line.case for line in report.lines))


def rows(report: MeshReport, case: str) -> list[list[str]]:
    """A row for each contender, whether it was measured or not."""
    absent = [[name, *[UNKNOWN] * 6, why] for name, why in report.absences.items()]
    return [_row(line) for line in report.lines if line.case == case] + absent


def bar_rows(report: MeshReport) -> list[list[str]]:
    """A row for each bar."""
    words = {None: "not measured", True: "kept", False: "NOT KEPT"}
    return [[one.what, one.bar, number(one.found, 2), words[one.kept]] for one in report.bars]


def page(report: MeshReport) -> str:
    """The section as Markdown."""
    versions = ", ".join(f"{name} {version}" for name, version in report.versions.items())
    setting = (
        f"{report.date}, {report.machine}. Command: `{report.command}`.\n\n"
        f"{report.workers} workers on {report.cores} cores, each contender started anew for each "
        "round, rounds interleaved. A unit burns CPU time; *wall* is what it took beyond units · "
        "time / cores, per unit, *CPU* what all processes used beyond the units' own. Ours is "
        "over Zenoh on loopback, with children: one node with four, or four with one each; they "
        "are started before the time is taken, as are those of the others. *Bare processes* take "
        "units from a pipe and have nothing else to do.\n\n"
        f"Versions: {versions}."
    )
    notes = [f"Note: {note}" for note in report.notes]
    bars = markdown_table(("", "bar", "measured", "verdict"), bar_rows(report))
    tables = [
        f"### {case}\n\n{markdown_table(COLUMNS, rows(report, case))}" for case in cases(report)
    ]
    return "\n\n".join(["## What a unit of the mesh costs", setting, *notes, bars, *tables])


def _row(line: Line) -> list[str]:
    return [
        line.contender,
        number(line.units_s, 0),
        percent(line.ideal),
        number(line.wall_us, 0),
        percent(line.wall_spread),
        number(line.cpu_us, 0),
        number(line.messages, 2),
        remarks(0, line.disturbed, line.rounds),
    ]


def fault_rows(findings: Iterable[Finding]) -> list[list[str]]:
    """A row for each fault."""
    return [
        [f"{one.fault}: {one.what}", number(one.found, 2), number(one.bar, 2), _fault_word(one)]
        for one in findings
    ]


def _fault_word(one: Finding) -> str:
    if not one.answered_once:
        return "NOT EVERY UNIT ONCE"
    return "kept" if one.kept else "NOT KEPT"


def fault_page(report: FaultsReport) -> str:
    """The section as Markdown."""
    setting = (
        f"{report.date}, {report.machine}. Command: `{report.command}`.\n\n"
        "Real nodes with one child each, over Zenoh on loopback; units sleep. In every scenario "
        "each unit was to be answered once."
    )
    table = markdown_table(FAULT_COLUMNS, fault_rows(report.findings))
    return "\n\n".join(["## What faults cost a job of the mesh", setting, table])
