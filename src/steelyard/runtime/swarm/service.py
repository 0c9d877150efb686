"""One service that is looked after, from now to the end of its task.

Where we can talk to the node's engine the container gets its signals from us: at once, and with the
grace that is asked for. On any other node only the swarm can stop it: its service is removed, and
the node gives it `runtime.grace`.
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
from steelyard.runtime.engine.container import KEPT_LINES, end_reason, remove, send
from steelyard.runtime.engine.labels import Mark
from steelyard.runtime.engine.logs import read_log as engine_log
from steelyard.runtime.engine.stats import Counters
from steelyard.runtime.logfiles import LogFiles

_PATIENCE = 5.0  # seconds for a node to answer
_TROUBLE = (DockerError, aiohttp.ClientError, OSError, TimeoutError)


@dataclass(frozen=True, slots=True)
class Body:
    """Its container, on an engine that we can talk to."""

    client: Docker
    id: str
    stop_signal: str
    counters: Counters

    async def end(self) -> str:
        """Why it ended, first-hand: a swarm does not tell who ran out of memory."""
        with contextlib.suppress(*_TROUBLE):
            async with asyncio.timeout(_PATIENCE):
                state = (await self.client.containers.container(self.id).show())["State"]
                return "" if state["Running"] else end_reason(state)
        return ""

    async def remove(self) -> None:
        """The swarm would, too, some seconds later."""
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(_PATIENCE):
                await remove(self.client, self.id)


@dataclass(slots=True, eq=False)
class Service:
    """A worker's service, and what has been asked of it."""

    client: Docker
    logs: LogFiles
    id: str
    mark: Mark
    host: str
    port: int
    node: str
    body: Body | None  # None: only the swarm can stop and nobody can measure it
    asked: bool = False  # to end
    kept: bool = False  # its log
    over: asyncio.Event = field(default_factory=asyncio.Event)  # nothing of it is left

    @property
    def running(self) -> Running:
        """The worker as the agent sees it."""
        allowance = self.mark.allowance
        return Running(self.mark.name, self.host, self.port, self.id[:12], allowance, self.node)

    async def ask(self) -> None:
        """The signal that the image wants for this, once; elsewhere the swarm sends it."""
        if self.asked:
            return
        self.asked = True
        try:
            await self._end(self.body.stop_signal if self.body else "")
        except SteelyardError:
            self.asked = False  # it was not told: the manager is away
            raise

    async def insist(self) -> None:
        self.asked = True
        await self._end("SIGKILL")

    def lose(self) -> None:
        """Its node is down: no log is to be had, and the swarm tidies up there one day."""
        self.kept, self.body = True, None

    async def remove(self) -> None:
        """Keep its last words, then remove the service, which takes them away."""
        if not self.kept:
            self.kept = True
            await keep_log(self.client, self.id, self.mark.name, self.logs)
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
    """The last lines that a service's task printed, wherever it ran."""
    async with asyncio.timeout(_PATIENCE):
        return await engine_log(client, f"services/{id}", lines)


async def keep_log(client: Docker, id: str, name: str, logs: LogFiles) -> None:  # noqa: A002
    """A service's log goes with it; its end is kept with those of other runtimes."""
    with contextlib.suppress(*_TROUBLE):
        text = await read_log(client, id, KEPT_LINES)
        await asyncio.to_thread(logs.keep, name, text)


async def discard(client: Docker, id: str, name: str, logs: LogFiles) -> None:  # noqa: A002
    """Remove a service that is of no use; where that fails, `running` finds the remains later."""
    await keep_log(client, id, name, logs)
    with contextlib.suppress(DockerError, aiohttp.ClientError, OSError):
        await _delete(client, id)


async def _delete(client: Docker, id: str) -> None:  # noqa: A002
    """Remove a service; one that is gone is removed."""
    try:
        await client.services.delete(id)
    except DockerError as error:
        if not missing(error):
            raise
