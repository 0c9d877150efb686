"""`steelyard balancer`: balancers alone, with an agent elsewhere or in front of fixed workers."""

from __future__ import annotations

import asyncio
from typing import Annotated

import typer
from rich.console import Console

from steelyard.cli.common import Messages
from steelyard.cli.options import settings_from
from steelyard.cli.preflight import require_certificates, warn_exposure
from steelyard.config.settings import Settings
from steelyard.config.values import parse_address
from steelyard.core.queue import Queue
from steelyard.errors import UsageError
from steelyard.supervisor.plan import AgentLink, agent_link
from steelyard.supervisor.supervise import Supervisor


def balancer(
    ctx: typer.Context,
    worker: Annotated[
        list[str] | None,
        typer.Option("--worker", metavar="HOST:PORT[=WEIGHT]", help="A worker; repeat it."),
    ] = None,
    agent: Annotated[
        str | None, typer.Option("--agent", metavar="HOST:PORT", help="The agent to follow.")
    ] = None,
) -> None:
    """Run only balancers: a plain reverse proxy in front of fixed workers, or of an agent's."""
    settings = settings_from(ctx)
    require_certificates(settings)
    warn_exposure(settings)
    source = _source(settings, worker or [], agent)
    console = Messages()
    raise SystemExit(asyncio.run(_serve(settings, source, console)))


def _source(settings: Settings, workers: list[str], agent: str | None) -> AgentLink | Queue:
    if bool(workers) == bool(agent):
        raise UsageError(
            "a balancer needs either workers or an agent",
            hint="--worker HOST:PORT (repeat it), or --agent HOST:PORT",
        )
    if agent is None:
        from steelyard.balancer.process import fixed_queue

        return fixed_queue(workers)
    try:
        address = parse_address(agent)
    except ValueError as error:
        raise UsageError(f'--agent: expected {error}, got "{agent}"') from error
    return agent_link(address, settings)


async def _serve(settings: Settings, source: AgentLink | Queue, console: Console) -> int:
    def say(line: str) -> None:
        console.print(line, markup=False, soft_wrap=True)

    supervisor = Supervisor(settings, say, source)
    supervisor.start()
    say(f"serving on {settings.gateway.scheme}://{supervisor.address}, Ctrl-C stops")
    failed = await supervisor.stopped_or_failed()
    await supervisor.close()
    return 1 if failed else 0
