"""One container that is looked after, from now to its end."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import aiohttp
from aiodocker import Docker
from aiodocker.exceptions import DockerError

from steelyard.errors import SteelyardError
from steelyard.runtime.base import Running
from steelyard.runtime.engine.connection import missing, told
from steelyard.runtime.engine.container import end_reason, send
from steelyard.runtime.engine.labels import Mark
from steelyard.runtime.engine.stats import Counters

_AGAIN = 1.0  # seconds until an engine that went away is asked again


@dataclass(slots=True, eq=False)
class Container:
    """A worker's container, and what has been asked of it."""

    client: Docker
    id: str
    mark: Mark
    host: str
    port: int
    stop_signal: str
    counters: Counters
    asked: bool = False  # to end
    over: asyncio.Event = field(default_factory=asyncio.Event)  # nothing of it is left

    @property
    def running(self) -> Running:
        """The worker as the agent sees it."""
        return Running(self.mark.name, self.host, self.port, self.id[:12], self.mark.allowance)

    async def ask(self) -> None:
        """The signal that the image wants for this, once: a second one looks like impatience."""
        if not self.asked:
            self.asked = True
            try:
                await self._signal(self.stop_signal)
            except SteelyardError:
                self.asked = False  # it was not told: the engine is away
                raise

    async def insist(self) -> None:
        self.asked = True
        await self._signal("SIGKILL")

    async def end(self) -> str:
        """Wait until it runs no longer; why. An engine that is away is waited for."""
        container = self.client.containers.container(self.id)
        while True:
            with contextlib.suppress(aiohttp.ClientError, OSError, DockerError):
                await container.wait()
            try:
                state = (await container.show())["State"]
                if not state["Running"]:
                    return end_reason(state)
            except DockerError as error:
                if missing(error):
                    return "gone"
            except (aiohttp.ClientError, OSError):
                pass
            await asyncio.sleep(_AGAIN)

    async def _signal(self, name: str) -> None:
        with told(f"worker {self.mark.name} cannot be signalled"):
            await send(self.client, self.id, name)


def address_of(mark: Mark, shown: Mapping[str, Any]) -> tuple[str, int] | None:
    """Where balancers reach it: its name on the network, or its published port on loopback.

    None: nothing is published, for instance because the container has ended.
    """
    if mark.reach == "network":
        return mark.name, mark.port
    ports = shown["NetworkSettings"]["Ports"] or {}
    published = ports.get(f"{mark.port}/tcp") or []
    return (published[0]["HostIp"], int(published[0]["HostPort"])) if published else None
