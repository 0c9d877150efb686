"""`steelyard down`: stops a gateway from another terminal, even one without a supervisor."""

from __future__ import annotations

import asyncio

import typer

from steelyard.cli.common import Messages
from steelyard.cli.options import settings_from
from steelyard.config.settings import Settings
from steelyard.supervisor.ending import end


def down(ctx: typer.Context) -> None:
    """Stop the gateway that these flags describe: open requests are finished, then workers end.

    This also stops balancers and an agent that go on without their supervisor. Give it the flags of
    `steelyard up` that identify the gateway: --name, --state, and --listen for a `steelyard
    balancer`.
    """
    settings = settings_from(ctx)
    console = Messages()

    def say(line: str) -> None:
        console.print(line, markup=False, soft_wrap=True)

    say("stopped" if asyncio.run(end(settings, say)) else _nothing(settings))


def _nothing(settings: Settings) -> str:
    state = settings.state.expanduser()
    found = sorted(
        {str(lock.parent.relative_to(state)) for lock in state.glob("**/gateways/*/lock")}
    )
    others = (
        f"; there are others: {', '.join(found)} (choose one with --name or --listen)"
        if found
        else ""
    )
    return (
        f"neither {settings.application.name} runs nor a balancer on {settings.gateway.listen},"
        f" with the state folder {state}{others}"
    )
