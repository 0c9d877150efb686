"""`steelyard balancer`: balancers alone, with an agent elsewhere or in front of fixed workers."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Annotated

import typer
from rich.console import Console

from steelyard.cli.common import Messages
from steelyard.cli.options import settings_loader
from steelyard.cli.preflight import require_certificates, warn_exposure, with_secret
from steelyard.cli.supervisor import make_supervisor
from steelyard.config.settings import Settings
from steelyard.config.values import Address, parse_address
from steelyard.core.queue import Queue
from steelyard.errors import UsageError
from steelyard.supervisor.plan import AgentLink, Order, agent_link


def balancer(
    ctx: typer.Context,
    worker: Annotated[
        list[str] | None,
        typer.Option(
            "--worker",
            metavar="HOST:PORT[=WEIGHT]",
            help="A worker to forward to; may be repeated.",
        ),
    ] = None,
    agent: Annotated[
        list[str] | None,
        typer.Option(
            "--agent", metavar="HOST:PORT", help="The agent to follow; repeat it for standbys."
        ),
    ] = None,
) -> None:
    """Run only balancers: a reverse proxy in front of fixed workers, or of those of an agent."""
    load = settings_loader(ctx)

    def order() -> Order:
        settings = load()
        require_certificates(settings)
        warn_exposure(settings)
        return Order(with_secret(settings), _source(settings, worker or [], agent or []))

    raise SystemExit(asyncio.run(_serve(order(), order, Messages())))


def _source(settings: Settings, workers: list[str], agents: list[str]) -> AgentLink | Queue:
    """The source of workers: flags of the command line win over the key in the file."""
    chosen = workers or ([] if agents else settings.gateway.workers)
    if bool(chosen) == bool(agents):
        raise UsageError(
            "a balancer needs either workers or an agent",
            hint="--worker HOST:PORT (repeat it), or `workers` under [gateway] in steelyard.toml, "
            "or --agent HOST:PORT",
        )
    if chosen:
        from steelyard.balancer.process import fixed_queue

        return fixed_queue(chosen)
    return agent_link(settings, *map(_address, agents))


def _address(agent: str) -> Address:
    try:
        return parse_address(agent)
    except ValueError as error:
        raise UsageError(f'--agent: expected {error}, got "{agent}"') from error


async def _serve(order: Order, load: Callable[[], Order], console: Console) -> int:
    def say(line: str) -> None:
        console.print(line, markup=False, soft_wrap=True)

    supervisor = make_supervisor(order, say, load)
    supervisor.start()
    await supervisor.serving()
    if not supervisor.over:
        supervisor.announce()
        scheme = order.settings.gateway.scheme
        say(f"serving on {scheme}://{supervisor.address}, Ctrl-C stops")
    failed = await supervisor.stopped_or_failed()
    await supervisor.close()
    return 1 if failed else 0
