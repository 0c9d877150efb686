"""`steelyard logs`: the lines that workers printed."""

from __future__ import annotations

import time
from collections.abc import Iterable, Iterator
from typing import Annotated
from zlib import crc32

import typer
from rich.console import Console
from rich.text import Text

from steelyard.cli.client import AgentClient, LostAgentError, NoAgentError, RefusedError
from steelyard.cli.common import (
    AgentOption,
    ConfigOption,
    JsonOption,
    NoMatchError,
    StateOption,
    client_for,
    resolve_worker,
)
from steelyard.cli.harmless import for_terminal
from steelyard.core.log_line import LogLine

COLOURS = ("cyan", "green", "yellow", "blue", "magenta", "bright_cyan", "bright_green")
MOMENT = "%Y-%m-%d %H:%M:%S"
RETURNS = 30.0  # seconds for the successor of a lost agent to answer
INTERRUPTED = 130  # exit status of a command that Ctrl-C ended, as in a shell
AGAIN = 0.5  # seconds between two attempts


def logs(
    worker: Annotated[
        str | None, typer.Argument(help="The worker's name, or a part; by default all workers.")
    ] = None,
    lines: Annotated[int, typer.Option("--lines", "-n", help="Lines per worker.", min=0)] = 50,
    follow: Annotated[
        bool, typer.Option("--follow", "-f", help="Go on with lines printed from now on.")
    ] = False,
    probes: Annotated[
        bool, typer.Option("--probes", help="Show the access log lines of health checks, too.")
    ] = False,
    json: JsonOption = False,
    agent: AgentOption = None,
    state: StateOption = None,
    config: ConfigOption = None,
) -> None:
    """Print the last lines of one worker, or of all; name an ended worker in full."""
    client = client_for(config, state, agent)
    name = None if worker is None else _full_name(client, worker)
    if follow:
        found: Iterable[LogLine] = _followed(client, name, lines, probes)
    else:
        found = _in_order(client.lines(name, lines, follow=False, probes=probes))
    console = Console(highlight=False, soft_wrap=True)
    bare = name is not None and not follow
    try:
        for line in found:
            if json:
                typer.echo(line.model_dump_json())
            else:
                _show(console, line, bare=bare)
    except KeyboardInterrupt:  # Ctrl-C is the way to stop following
        raise typer.Exit(INTERRUPTED) from None


def _full_name(client: AgentClient, worker: str) -> str:
    try:
        return resolve_worker(client.status(), worker)
    except NoMatchError as unknown:
        try:
            client.logs(worker, 1)  # an ended worker may still have a log
        except RefusedError:
            raise unknown from None
        return worker


def _in_order(lines: Iterable[LogLine]) -> list[LogLine]:
    """Sort by time; if the times are not known, keep the agent's order, worker by worker."""
    found = [*lines]
    if any(line.time is None for line in found):
        return found
    return sorted(found, key=lambda line: line.time or 0)


def _followed(client: AgentClient, name: str | None, last: int, probes: bool) -> Iterator[LogLine]:
    """Yield lines until the agent stops; after a lost connection, go on with its successor."""
    while True:
        try:
            yield from client.lines(name, last, follow=True, probes=probes)
            return
        except LostAgentError as error:
            typer.echo(f"{error.message}; lines may be missing until the agent is back", err=True)
            _wait_for(client)
            last = 0


def _wait_for(client: AgentClient) -> None:
    """Return when the agent answers again; raise NoAgentError if it does not."""
    patience = time.monotonic() + RETURNS
    while True:
        try:
            client.status()
            return
        except NoAgentError:
            if time.monotonic() > patience:
                raise
            time.sleep(AGAIN)


def _show(console: Console, line: LogLine, *, bare: bool) -> None:
    """Print one line, after its time and worker; its text is never taken for markup."""
    text = for_terminal(line.text)
    if bare:
        typer.echo(text)
        return
    front = Text()
    if line.time is not None:
        local = line.time.astimezone()
        front.append(f"{local:{MOMENT}}.{local.microsecond // 1000:03} ", "bright_black")
    front.append(line.worker, COLOURS[crc32(line.worker.encode()) % len(COLOURS)])
    front.append(" | ")
    console.print(front, end="")
    typer.echo(text)
