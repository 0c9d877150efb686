"""Parts shared by commands that talk to an agent: its address, and ways to print."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Annotated, Any

import typer
from pydantic import BaseModel
from rich.console import Console
from rich.table import Table

from steelyard.cli.client import AgentClient
from steelyard.config.file import find_file
from steelyard.config.load import load_settings
from steelyard.core.status import FleetStatus
from steelyard.errors import UsageError

ConfigOption = Annotated[
    str | None, typer.Option("--config", metavar="PATH", help="The configuration file.")
]
StateOption = Annotated[
    str | None, typer.Option("--state", metavar="PATH", help="The agent's state folder.")
]
AgentOption = Annotated[
    str | None, typer.Option("--agent", metavar="HOST:PORT", help="The agent's address.")
]
JsonOption = Annotated[bool, typer.Option("--json", help="Print JSON.")]


def client_for(config: str | None, state: str | None, agent: str | None) -> AgentClient:
    """The client of the agent that the flags or the configuration name."""
    file = find_file(config, os.environ, Path())
    flags = {"state": state, "agent.listen": agent}
    settings = load_settings(file, os.environ, {k: v for k, v in flags.items() if v is not None})
    return AgentClient.of(settings)


def output() -> Console:
    """The console for tables. Unless it is a terminal, lines are not folded, for scripts."""
    console = Console(highlight=False)
    return console if console.is_terminal else Console(highlight=False, width=200)


class Messages(Console):
    """Standard error, for commands that must go on when nobody reads it any more.

    A closed terminal or a `tee` that died must not end the gateway; rich would exit.
    """

    def __init__(self) -> None:
        super().__init__(stderr=True, highlight=False)

    def print(self, *objects: Any, **options: Any) -> None:
        try:
            super().print(*objects, **options)
        except OSError:
            self.quiet = True

    def on_broken_pipe(self) -> None:
        self.quiet = True


def print_json(model: BaseModel) -> None:
    """Print one JSON document to standard output."""
    typer.echo(model.model_dump_json(indent=2))


def new_table(*columns: str) -> Table:
    """A plain table; a column whose name begins with `>` is aligned to the right."""
    table = Table(box=None, header_style="bold", pad_edge=False, padding=(0, 2, 0, 0))
    for column in columns:
        table.add_column(column.lstrip(">"), justify="right" if column.startswith(">") else "left")
    return table


class NoMatchError(UsageError):
    """No worker has such a name."""


def resolve_worker(status: FleetStatus, text: str) -> str:
    """The full name of the only worker whose name contains the text."""
    names = [worker.name for worker in status.workers]
    matches = [name for name in names if name == text] or [name for name in names if text in name]
    if len(matches) == 1:
        return matches[0]
    if not matches:
        raise NoMatchError(f"no worker matches “{text}”", hint=f"workers: {', '.join(names)}")
    raise UsageError(
        f"{len(matches)} workers match “{text}”",
        hint=f"give a longer part of one of {', '.join(matches)}",
    )
