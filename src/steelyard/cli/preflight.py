"""Checks before anything is started."""

from __future__ import annotations

import asyncio
import time
from importlib.util import find_spec

import typer

from steelyard.config.exposure import exposure_warnings
from steelyard.config.settings import Settings
from steelyard.errors import SteelyardError, UsageError
from steelyard.token import ensure_token

CONTAINERS = {"docker", "swarm"}  # the runtimes that need an engine and an image


def require_command(settings: Settings) -> None:
    """Raise UsageError if there is nothing to serve."""
    runtime = settings.runtime
    if runtime.kind in CONTAINERS:
        if runtime.image is None or runtime.port is None:
            raise UsageError(
                "no image to serve"
                if runtime.image is None
                else "no port to reach the application on",
                hint="steelyard up --image IMAGE --port N, N being the port on which the "
                "application listens in its container",
            )
    elif not settings.application.command:
        raise UsageError(
            "no command to serve",
            hint="steelyard up -- uvicorn app:app --port {port}, or `command` under [application] "
            "in steelyard.toml; `steelyard demo` serves a built-in application",
        )


def require_runtime(settings: Settings) -> None:
    """Raise UsageError if a library is missing; the agent's `build_runtime` checks again."""
    kind = settings.runtime.kind
    if kind in CONTAINERS and find_spec("aiodocker") is None:
        raise UsageError(
            f"runtime {kind} needs the library aiodocker", hint="pip install 'steelyard[docker]'"
        )


def require_engine(settings: Settings) -> None:
    """Raise unless a Docker engine answers, for Swarm that of a manager.

    Once the gateway runs, an engine that does not answer is waited for.
    """
    if settings.runtime.kind not in CONTAINERS:
        return
    from steelyard.runtime.engine.connection import connect

    async def ask() -> None:
        client, info = await connect()
        await client.close()
        if settings.runtime.kind == "swarm":
            from steelyard.runtime.swarm.cluster import require_swarm

            require_swarm(info)

    asyncio.run(ask())


def wait_for_engine(settings: Settings, pause: float = 1.0) -> None:
    """Like `require_engine`, but wait: an agent that starts with the machine may be earlier."""
    said, there = "", False
    while not there:
        try:
            require_engine(settings)
            there = True
        except SteelyardError as error:
            if not error.retry:
                raise
            if str(error) != said:
                typer.secho(f"waiting: {error}", err=True, fg="yellow")
            said = str(error)
            time.sleep(pause)


def require_own_workers(settings: Settings) -> None:
    """Raise UsageError for fixed workers: `up` starts its workers itself."""
    if settings.gateway.workers:
        raise UsageError(
            "gateway.workers has no effect here: the agent starts workers itself",
            hint="`steelyard balancer` serves fixed workers; otherwise remove the key",
        )


def with_secret(settings: Settings) -> Settings:
    """The settings with a file that signs the cookies of sticky sessions, if they are on."""
    if settings.gateway.sticky == "off":
        return settings
    path = settings.gateway.sticky_secret
    if path is None:
        path = settings.state.expanduser() / "sticky"
        ensure_token(path)
    from steelyard.balancer.pool.sticky import read_secret

    read_secret(path)  # raises now, before anything is started
    gateway = settings.gateway.model_copy(update={"sticky_secret": path.resolve()})
    return settings.model_copy(update={"gateway": gateway})


def require_certificates(settings: Settings) -> None:
    """Raise if a certificate cannot be loaded; warn of what clients may reject."""
    if not settings.gateway.tls_cert:
        return
    from steelyard.balancer.downstream.identity import concerns, load_identity

    for concern in concerns(load_identity(settings.gateway.pairs)):
        typer.secho(f"warning: {concern}", err=True, fg="yellow")


def warn_exposure(settings: Settings) -> None:
    """Warn of ports that others on the network will be able to reach."""
    for warning in exposure_warnings(settings):
        typer.secho(f"warning: {warning}", err=True, fg="yellow")
