"""Watches one service until the end of its task.

If we can reach the node's engine, we signal the container ourselves: at once, and with the grace
that the caller asks for. On any other node only the swarm can stop the container: its service is
removed, and the node gives it `runtime.grace`.
"""

from __future__ import annotations

import asyncio
import contextlib
from dataclasses import dataclass, field

import aiohttp
from aiodocker import Docker
from aiodocker.exceptions import DockerError

from steelyard.errors import SteelyardError
from steelyard.runtime.base import Running
from steelyard.runtime.engine.connection import missing, told
from steelyard.runtime.engine.container import end_reason, remove, send
from steelyard.runtime.engine.labels import Mark
from steelyard.runtime.engine.logs import keep_log
from steelyard.runtime.engine.logs import read_log as engine_log
from steelyard.runtime.engine.stats import Counters
from steelyard.runtime.logfiles import LogFiles

_PATIENCE = 5.0  # seconds for a node to answer
_TROUBLE = (DockerError, aiohttp.ClientError, OSError, TimeoutError)


@dataclass(frozen=True, slots=True)
class Body:
    """A service's container, on an engine that we can reach."""

    client: Docker
    id: str
    stop_signal: str
    counters: Counters

    async def end(self) -> str:
        """Why the container ended, from its own engine: a swarm does not tell of lack of memory."""
        with contextlib.suppress(*_TROUBLE):
            async with asyncio.timeout(_PATIENCE):
                state = (await self.client.containers.container(self.id).show())["State"]
                return "" if state["Running"] else end_reason(state)
        return ""

    async def remove(self) -> None:
        """Remove the container at once; the swarm would do so some seconds later."""
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(_PATIENCE):
                await remove(self.client, self.id)


@dataclass(slots=True, eq=False)
class Service:
    """A worker's service, and the requests that were made of it."""

    client: Docker
    logs: LogFiles
    id: str
    mark: Mark
    host: str
    port: int
    node: str
    body: Body | None  # None: only the swarm can stop it, and nobody can measure it
    asked: bool = False  # the worker was asked to end
    kept: bool = False  # its log has been saved, or cannot be
    # set when nothing of the worker is left
    over: asyncio.Event = field(default_factory=asyncio.Event)

    @property
    def running(self) -> Running:
        """The worker as the agent sees it."""
        allowance = self.mark.allowance
        return Running(self.mark.name, self.host, self.port, self.id[:12], allowance, self.node)

    async def ask(self) -> None:
        """Send the image's stop signal, once; without its engine, let the swarm send it."""
        if self.asked:
            return
        self.asked = True
        try:
            await self._end(self.body.stop_signal if self.body else "")
        except SteelyardError:
            self.asked = False  # the manager did not answer, so nothing was asked
            raise

    async def insist(self) -> None:
        self.asked = True
        await self._end("SIGKILL")

    def lose(self) -> None:
        """Give up a service whose node is down.

        Its log cannot be read, and the swarm removes its container when the node is back.
        """
        self.kept, self.body = True, None

    async def remove(self) -> None:
        """Save the last lines of the log, then remove the service, which deletes the log."""
        if not self.kept:
            self.kept = True
            await keep_log(self.client, f"services/{self.id}", self.mark.name, self.logs)
        await _delete(self.client, self.id)

    async def _end(self, signal: str) -> None:
        if self.body is not None:
            with contextlib.suppress(*_TROUBLE):
                async with asyncio.timeout(_PATIENCE):
                    await send(self.body.client, self.body.id, signal)
                    return
        with told(f"worker {self.mark.name} cannot be stopped"):
            await self.remove()


async def read_log(client: Docker, id: str, lines: int) -> str:  # noqa: A002
    """The last lines that a service's task printed, on whatever node it ran."""
    async with asyncio.timeout(_PATIENCE):
        return await engine_log(client, f"services/{id}", lines)


async def discard(client: Docker, id: str, name: str, logs: LogFiles) -> None:  # noqa: A002
    """Remove a service that is of no use; if that fails, `running` finds the remains later."""
    await keep_log(client, f"services/{id}", name, logs)
    with contextlib.suppress(DockerError, aiohttp.ClientError, OSError):
        await _delete(client, id)


async def _delete(client: Docker, id: str) -> None:  # noqa: A002
    """Remove a service, if it still exists."""
    try:
        await client.services.delete(id)
    except DockerError as error:
        if not missing(error):
            raise
