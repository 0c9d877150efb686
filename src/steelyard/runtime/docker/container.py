"""Watches one container until its end."""

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

_AGAIN = 1.0  # seconds until the next question to an engine that does not answer


@dataclass(slots=True, eq=False)
class Container:
    """A worker's container, and the requests that were made of it."""

    client: Docker
    id: str
    mark: Mark
    host: str
    port: int
    stop_signal: str
    counters: Counters
    asked: bool = False  # the worker was asked to end
    # set when nothing of the worker is left
    over: asyncio.Event = field(default_factory=asyncio.Event)

    @property
    def running(self) -> Running:
        """The worker as the agent sees it."""
        return Running(self.mark.name, self.host, self.port, self.id[:12], self.mark.allowance)

    async def ask(self) -> None:
        """Send the image's stop signal, once: some servers take a second one as "hurry"."""
        if not self.asked:
            self.asked = True
            try:
                await self._signal(self.stop_signal)
            except SteelyardError:
                self.asked = False  # the engine did not answer, so the signal was not sent
                raise

    async def insist(self) -> None:
        self.asked = True
        await self._signal("SIGKILL")

    async def end(self) -> str:
        """Wait until the container has ended; return the reason.

        While the engine does not answer, it is asked again and again.
        """
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
    """The address for balancers: a name on the network, or a port on loopback.

    None if no port is published, for instance because the container has ended.
    """
    if mark.reach == "network":
        return mark.name, mark.port
    ports = shown["NetworkSettings"]["Ports"] or {}
    published = ports.get(f"{mark.port}/tcp") or []
    return (published[0]["HostIp"], int(published[0]["HostPort"])) if published else None
