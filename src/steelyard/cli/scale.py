"""`steelyard scale`: changes the limits at run time."""

from __future__ import annotations

from typing import Annotated

import typer

from steelyard.cli.common import (
    AgentOption,
    ConfigOption,
    JsonOption,
    StateOption,
    client_for,
    output,
    print_json,
)
from steelyard.cli.status import show_status
from steelyard.errors import UsageError


def scale(
    count: Annotated[
        int | None, typer.Argument(help="Exactly this many workers: min and max at once.", min=1)
    ] = None,
    low: Annotated[int | None, typer.Option("--min", help="Fewest workers.", min=1)] = None,
    high: Annotated[int | None, typer.Option("--max", help="Most workers.", min=1)] = None,
    reset: Annotated[
        bool, typer.Option("--reset", help="Return to the configured limits.")
    ] = False,
    json: JsonOption = False,
    agent: AgentOption = None,
    state: StateOption = None,
    config: ConfigOption = None,
) -> None:
    """Change the limits on the number of workers; they hold across restarts of the agent."""
    if [count is not None, bool(low or high), reset].count(True) != 1:
        raise UsageError("give a number of workers, or --min and/or --max, or --reset")
    client = client_for(config, state, agent)
    now = client.status()
    wanted = now.configured if reset else (count or low or now.min, count or high or now.max)
    if wanted[0] > wanted[1]:
        raise UsageError(f"min {wanted[0]} would be above max {wanted[1]}")
    told = client.set_limits(*wanted)
    if json:
        print_json(told)
    else:
        show_status(output(), told, decisions=3)
