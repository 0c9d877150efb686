"""Parts shared by the commands of `steelyard bench`."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Annotated, TypeVar

import typer
from rich.markup import escape

from steelyard.cli.common import new_table, output
from steelyard.errors import UsageError

T = TypeVar("T")

InstallOption = Annotated[
    bool,
    typer.Option(help="Install missing programs: Debian packages as root, aiohttp in a venv."),
]
WriteOption = Annotated[
    Path | None,
    typer.Option(
        "--out", "--write", metavar="FILE", help="Replace the tables' section of this file."
    ),
]


def chosen(what: str, text: str | None, every: dict[str, T], separator: str = ",") -> Sequence[T]:
    """The items that `text` names, in the order in which they are measured."""
    if text is None:
        return list(every.values())
    names = {name.strip() for name in text.split(separator) if name.strip()}
    unknown = names - every.keys()
    if unknown or not names:
        raise UsageError(
            f"no such {what}: {', '.join(sorted(unknown)) or repr(text)}",
            hint=f"there are {f'{separator} '.join(every)}",
        )
    return [one for name, one in every.items() if name in names]


def show_cells(title: str, columns: Sequence[str], rows: Iterable[Sequence[str]]) -> None:
    """Print a table of names, figures and remarks."""
    console = output()
    first, *figures, last = columns
    table = new_table(first, *(f">{name}" for name in figures), last)
    for row in rows:
        table.add_row(*map(escape, row))
    console.print(f"[bold]{escape(title)}[/]")
    console.print(table)
    console.print()


def show_notes(notes: Iterable[str]) -> None:
    """Print what a reader must know before believing the figures."""
    for note in notes:
        output().print(f"[yellow]note: {escape(note)}[/]", soft_wrap=True)
