"""The connection to the Docker engine, and its errors in words for people.

The engine is chosen by Docker's own convention: DOCKER_HOST, the current context, the usual socket.
"""

from __future__ import annotations

import asyncio
import os
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any

import aiohttp
from aiodocker import Docker
from aiodocker.exceptions import DockerError

from steelyard.errors import Fault, SteelyardError

_UNREACHABLE = 900  # aiodocker's status for a connection that failed
_ANSWER = 10.0  # seconds for an engine to answer the first question
LEAVE = 10.0  # seconds for the requests to an engine when the runtime closes
_PONG = 3.0  # seconds for an engine to answer when it has answered before


class EngineError(SteelyardError):
    """The engine cannot be reached, or failed."""

    fault = Fault.MACHINE
    retry = True


async def connect(url: str | None = None) -> tuple[Docker, Mapping[str, Any]]:
    """Connect to an engine that answers; return the connection and the engine's `GET /info`."""
    client = _client(url)
    try:
        with told("docker does not answer", url):
            async with asyncio.timeout(_ANSWER):
                return client, await client.system.info()
    except BaseException:
        await client.close()
        raise


async def ping(client: Docker) -> None:
    """Return when the engine answers; raise an EngineError when it does not, or not in time."""
    with told("docker does not answer"):
        async with asyncio.timeout(_PONG):
            await client.version()


def _client(url: str | None) -> Docker:
    try:
        client = Docker(url)
    # aiodocker asserts that there is an engine, and raises ValueError for a malformed DOCKER_HOST.
    except (AssertionError, ValueError, DockerError) as error:
        why = str(error) or "neither DOCKER_HOST nor a socket is there"
        raise _unreachable(why, url) from error
    # Each worker holds two connections open, so aiohttp's limit of 100 would allow only 50 workers.
    # aiodocker has no option for the limit.
    client.connector._limit = 0
    return client


@contextmanager
def told(what: str, url: str | None = None) -> Iterator[None]:
    """Turn errors of the engine into EngineError; `url` names another engine than usual."""
    try:
        yield
    except DockerError as error:
        if error.status == _UNREACHABLE:
            raise _unreachable(error.message, url) from error
        raise EngineError(f"{what}: {error.message}") from error
    except TimeoutError as error:
        raise _unreachable("no answer in time", url) from error
    except (aiohttp.ClientError, OSError) as error:
        raise _unreachable(str(error), url) from error


def _unreachable(why: str, url: str | None) -> EngineError:
    where = url or os.environ.get("DOCKER_HOST")
    return EngineError(
        f"no Docker engine at {where}: {why}" if where else f"no Docker engine: {why}",
        hint="is dockerd running, may this user open its socket (group `docker`), and is "
        "DOCKER_HOST right? `docker info` tells",
    )


def missing(error: DockerError) -> bool:
    """Whether the engine says that it does not know the object."""
    return error.status == 404
