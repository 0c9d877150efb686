"""Results as files: a CSV per table, and a section of a document."""

from __future__ import annotations

import csv
import os
from pathlib import Path

from steelyard.lab.report import Report, Table, cell
from steelyard.markdown import markdown_table, with_section

TITLE = """# The lab

This page checks claims of the source documents by simulation: `steelyard lab` runs the shipped
selectors and core on virtual time. `make lab` writes the page, each section by its own command; the
same seed gives the same figures. Intervals are 95 % confidence intervals over seeds.
"""


def write_tables(report: Report, folder: Path) -> list[Path]:
    """Write a file per table, with all digits."""
    return [
        _write_table(table, folder / f"{report.name}-{table.name}.csv") for table in report.tables
    ]


def write_section(report: Report, command: str, page: Path, figure: Path | None) -> None:
    """Put the section into the document, replacing an earlier one of the same name."""
    before = page.read_text(encoding="utf-8") if page.exists() else TITLE
    text = with_section(before, f"lab: {report.name}", _section(report, command, page, figure))
    page.parent.mkdir(parents=True, exist_ok=True)
    page.write_text(text, encoding="utf-8")


def _write_table(table: Table, file: Path) -> Path:
    with file.open("w", encoding="utf-8", newline="") as out:
        writer = csv.writer(out, lineterminator="\n")
        writer.writerow(table.columns)
        writer.writerows(table.rows)
    return file


def _section(report: Report, command: str, page: Path, figure: Path | None) -> str:
    parts = [
        f"## {report.title}",
        f"**{report.answer}**",
        f"`{command}`",
        report.method,
        report.reading,
    ]
    if figure is not None:
        parts.append(f"![{report.title}]({Path(os.path.relpath(figure, page.parent)).as_posix()})")
    for table in report.tables:
        if table.shown:
            parts.append(f"**{table.title}**")
            parts.append(
                markdown_table(table.columns, [list(map(cell, row)) for row in table.rows])
            )
    parts += [f"* {'Reached' if bar.met else 'NOT reached'}: {bar.what} ({bar.got})."
              for bar in report.bars]  # fmt: skip
    return "\n\n".join(parts)
