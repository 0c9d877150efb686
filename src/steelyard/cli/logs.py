"""`steelyard logs`: what workers printed."""

from __future__ import annotations

from typing import Annotated

import typer

from steelyard.cli.client import AgentClient, RefusedError
from steelyard.cli.common import (
    AgentOption,
    ConfigOption,
    NoMatchError,
    StateOption,
    client_for,
    resolve_worker,
)
from steelyard.core.status import FleetStatus


def logs(
    worker: Annotated[
        str | None, typer.Argument(help="Its name, or a part of it; none: all workers.")
    ] = None,
    lines: Annotated[int, typer.Option("--lines", "-n", help="Lines per worker.", min=1)] = 50,
    agent: AgentOption = None,
    state: StateOption = None,
    config: ConfigOption = None,
) -> None:
    """Print the last lines of one worker, or of all; ended workers by their full name."""
    client = client_for(config, state, agent)
    told = client.status()
    if worker is None:
        for one in told.workers:
            typer.echo(f"==> {one.name} <==")
            typer.echo(client.logs(one.name, lines))
        return
    typer.echo(_lines_of(client, told, worker, lines).removesuffix("\n"))


def _lines_of(client: AgentClient, told: FleetStatus, worker: str, lines: int) -> str:
    try:
        return client.logs(resolve_worker(told, worker), lines)
    except NoMatchError as unknown:
        try:
            return client.logs(worker, lines)  # it may have ended: its log is still there
        except RefusedError:
            raise unknown from None
