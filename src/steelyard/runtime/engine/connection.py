"""The connection to the Docker engine, and what its errors mean to people.

Which engine is Docker's own convention: DOCKER_HOST, the current context, the usual socket.
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

_UNREACHABLE = 900  # aiodocker's word for a connection that failed
_ANSWER = 10.0  # seconds in which an engine says that it is there
LEAVE = 10.0  # seconds for what is asked of an engine on leaving it
_PONG = 3.0  # the same for one that has been there before, and should say so soon


class EngineError(SteelyardError):
    """The engine cannot be reached, or failed."""

    fault = Fault.MACHINE
    retry = True


async def connect(url: str | None = None) -> tuple[Docker, Mapping[str, Any]]:
    """A connection to an engine that answers, and what it says about itself."""
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
    # Each worker holds two connections open, and aiohttp's limit of 100 would stop at 50 of them;
    # aiodocker has no way to say so.
    client.connector._limit = 0
    return client


@contextmanager
def told(what: str, url: str | None = None) -> Iterator[None]:
    """Trouble with the engine, at that place if it is not the usual one, as an EngineError."""
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
    """Whether the engine says that there is no such thing."""
    return error.status == 404
