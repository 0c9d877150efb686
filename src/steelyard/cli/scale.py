"""`steelyard scale`: other limits, at run time."""

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
    json: JsonOption = False,
    agent: AgentOption = None,
    state: StateOption = None,
    config: ConfigOption = None,
) -> None:
    """Change how many workers there may be; it holds across restarts of the agent."""
    if (count is None) == (low is None and high is None):
        raise UsageError("say either a number of workers, or --min and/or --max")
    client = client_for(config, state, agent)
    now = client.status()
    wanted_min = count or low or now.min
    wanted_max = count or high or now.max
    if wanted_min > wanted_max:
        raise UsageError(f"min {wanted_min} would be above max {wanted_max}")
    told = client.set_limits(wanted_min, wanted_max)
    if json:
        print_json(told)
    else:
        show_status(output(), told, decisions=3)
