"""Parts shared by the commands of `steelyard lab`.

The lab is imported when one of them runs: it needs numpy, and the other commands should not wait
for that.
"""

from __future__ import annotations

import shlex
import sys
from importlib import import_module
from pathlib import Path
from time import perf_counter
from typing import TYPE_CHECKING, Annotated, Any

import typer
from rich.markup import escape

from steelyard.cli.bench_common import show_cells
from steelyard.cli.common import Messages, output, print_json
from steelyard.cli.watch import RichWatcher
from steelyard.errors import Fault, SteelyardError, UsageError

if TYPE_CHECKING:
    from steelyard.lab.report import Report

SeedOption = Annotated[int, typer.Option(min=0, help="The same seed gives the same figures.")]
OutOption = Annotated[
    Path | None,
    typer.Option("--out", metavar="DIR", help="Folder for a CSV per table and the figure."),
]
PageOption = Annotated[
    Path | None,
    typer.Option("--page", metavar="FILE", help="Replace the result's section of this file."),
]


class MissingError(SteelyardError):
    """A library is not installed."""

    fault = Fault.MACHINE


def load(name: str) -> Any:
    """Import a module of the lab."""
    try:
        return import_module(f"steelyard.lab.{name}")
    except ModuleNotFoundError as error:
        if error.name is None or error.name.startswith("steelyard"):
            raise
        raise _missing(error.name) from error


def _missing(library: str) -> MissingError:
    hint = "pip install 'steelyard[lab]'"
    return MissingError(f"the lab needs {library}, which is not installed", hint=hint)


class Lab:
    """The run of one experiment by a command."""

    def __init__(self, name: str, json: bool, out: Path | None, page: Path | None) -> None:
        self.module = load(name)
        self._json = json
        self._out = out
        self._page = page
        self._console = Messages()

    def run(self, wish: object) -> None:
        """Simulate, show and write; raise Exit with status 1 if a bar was missed."""
        self._prepare()
        begun = perf_counter()
        with RichWatcher(self._console) as watcher:
            report: Report = self.module.run(wish, watcher)
        seconds = perf_counter() - begun
        self._say(f"{report.requests:,} simulated requests in {seconds:.1f} s")
        if self._json:
            print_json(report)
        else:
            self._show(report)
        self._write(report)
        if not all(bar.met for bar in report.bars):
            raise typer.Exit(1)

    def _prepare(self) -> None:
        """Check before the work that its results can be written."""
        if self._out is None:
            return
        try:
            import_module("matplotlib")
            self._out.mkdir(parents=True, exist_ok=True)
        except ModuleNotFoundError as error:
            raise _missing("matplotlib") from error
        except OSError as error:
            raise UsageError(
                f"--out {self._out}: {error.strerror}", hint="name a folder"
            ) from error

    def _show(self, report: Report) -> None:
        cell = load("report").cell
        for table in report.tables:
            if table.shown:
                show_cells(table.title, table.columns, [list(map(cell, row)) for row in table.rows])
        for bar in report.bars:
            mark = "[green]reached[/]" if bar.met else "[red]NOT reached[/]"
            output().print(f"{mark}: {escape(bar.what)} ({escape(bar.got)})")
        output().print(f"\n[bold]{escape(report.answer)}[/]\n\n{escape(report.reading)}")

    def _write(self, report: Report) -> None:
        files: list[Path] = []
        if self._out is not None:
            files += load("output").write_tables(report, self._out)
            drawn = load("figure").save(
                lambda axes: self.module.draw(report, axes),
                self.module.PANELS,
                self._out,
                report.name,
            )
            files += drawn
        if self._page is not None:
            figure = drawn[0] if self._out is not None else None
            load("output").write_section(report, _command(), self._page, figure)
            files.append(self._page)
        for file in files:
            self._say(f"wrote {file}")

    def _say(self, line: str) -> None:
        self._console.print(line, markup=False, soft_wrap=True)


def _command() -> str:
    """The command as a reader would repeat it, without the paths of its output files."""
    words = iter(sys.argv[1:])
    kept = [word for word in words if not (word in ("--out", "--page") and next(words, ""))]
    return shlex.join(["steelyard", *kept])
