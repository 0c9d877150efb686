"""`steelyard agent`: the deployment agent alone."""

from __future__ import annotations

from typing import Annotated

import typer

from steelyard.cli.options import settings_from
from steelyard.cli.preflight import (
    require_command,
    require_runtime,
    wait_for_engine,
    warn_exposure,
)
from steelyard.logs import set_up_logging


def agent(
    ctx: typer.Context,
    command: Annotated[
        list[str] | None,
        typer.Argument(metavar="-- COMMAND", help="The command of one worker, after `--`."),
    ] = None,
) -> None:
    """Run only the agent: it starts, measures and scales workers, and publishes the queue.

    Balancers connect to it with `steelyard balancer --agent HOST:PORT`.
    """
    # imported here: it takes half a second, which other commands need not wait
    from steelyard.agent.process import run_agent

    settings = settings_from(ctx, application_command=tuple(command) if command else None)
    require_command(settings)
    require_runtime(settings)
    warn_exposure(settings)
    wait_for_engine(settings)
    set_up_logging("agent", settings.log.level)
    run_agent(settings)
