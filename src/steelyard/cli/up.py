"""`steelyard up`: runs the agent, the balancers, and the workers that they need."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Annotated

import typer
from rich.console import Console
from rich.markup import escape

from steelyard.cli.boot import BootError, watch_boot
from steelyard.cli.common import Messages
from steelyard.cli.findings import require_fit
from steelyard.cli.options import settings_loader
from steelyard.cli.preflight import (
    require_certificates,
    require_command,
    require_engine,
    require_own_workers,
    require_runtime,
    warn_exposure,
    with_secret,
)
from steelyard.cli.supervisor import make_supervisor
from steelyard.config.settings import Settings
from steelyard.state_folder import open_state_folder
from steelyard.supervisor.plan import Order
from steelyard.supervisor.supervise import Supervisor
from steelyard.token import ensure_token


def up(
    ctx: typer.Context,
    command: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="-- COMMAND", help="The command of one worker, after `--`; {port} is filled in."
        ),
    ] = None,
) -> None:
    """Start an application's workers and serve them: balance, measure, scale, heal.

    For instance: steelyard up --min 2 --max 6 -- uvicorn app:app --port {port}
    or, in containers: steelyard up --image shop:2 --port 8000
    """
    run_up(settings_loader(ctx, application_command=tuple(command) if command else None))


def run_up(load: Callable[[], Settings]) -> None:
    """Serve until stopped, then exit with a status that tells whether all went well."""

    def order() -> Order:
        settings = load()
        require_command(settings)
        require_runtime(settings)
        require_own_workers(settings)
        require_certificates(settings)
        warn_exposure(settings)
        return Order(with_secret(settings), None)

    first = order()
    require_engine(first.settings)
    for note in require_fit(first.settings):
        typer.secho(f"note: {note}", err=True, fg="yellow")
    open_state_folder(first.settings.folder)
    raise SystemExit(asyncio.run(_serve(first, order, Messages())))


async def _serve(order: Order, load: Callable[[], Order], console: Console) -> int:
    def say(line: str) -> None:
        console.print(line, markup=False, soft_wrap=True)

    settings = order.settings
    supervisor = make_supervisor(order, say, load)
    # now, so that the token exists before any balancer looks for it
    ensure_token(settings.token_file)
    supervisor.start()
    ended = asyncio.create_task(supervisor.stopped_or_failed())
    booted = asyncio.create_task(_boot(settings, supervisor, console))
    await asyncio.wait({ended, booted}, return_when=asyncio.FIRST_COMPLETED)
    problem = booted.exception() if booted.done() else None
    if problem is None:
        await ended
    booted.cancel()
    if not supervisor.abandoned:
        console.print("stopping: open requests are finished; Ctrl-C again stops at once")
    await supervisor.close()
    if isinstance(problem, BootError):
        console.print(f"[red]error:[/] {escape(str(problem))}", soft_wrap=True)
    elif problem is not None:
        raise problem
    failed = problem is not None or (ended.done() and ended.result())
    # the agent failed and left workers behind
    failed |= supervisor.agent is not None and supervisor.agent.status != 0
    if not supervisor.abandoned:
        console.print("stopped")
    return 1 if failed else 0


async def _boot(settings: Settings, supervisor: Supervisor, console: Console) -> None:
    await supervisor.settled()
    await watch_boot(settings, supervisor.address, console)
    supervisor.announce()
