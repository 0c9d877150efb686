"""`steelyard drain`: takes one worker out of service, without cutting a request."""

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
    resolve_worker,
)
from steelyard.cli.status import show_status


def drain(
    worker: Annotated[str, typer.Argument(help="The worker's name, or a part that no other has.")],
    json: JsonOption = False,
    agent: AgentOption = None,
    state: StateOption = None,
    config: ConfigOption = None,
) -> None:
    """Send no new requests to a worker, let it finish its open ones, and replace it."""
    client = client_for(config, state, agent)
    told = client.drain(resolve_worker(client.status(), worker))
    if json:
        print_json(told)
    else:
        show_status(output(), told, decisions=3)
