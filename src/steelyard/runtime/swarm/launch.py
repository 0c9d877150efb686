"""Creates a service and waits until its task runs on some node.

image, network ─> service ─> placed ─> prepared (its node may have to pull the image) ─> runs
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable

import aiohttp
from aiodocker import Docker
from aiodocker.exceptions import DockerError

from steelyard.errors import StartError
from steelyard.runtime.engine.connection import told
from steelyard.runtime.engine.container import stop_signal
from steelyard.runtime.engine.labels import Mark
from steelyard.runtime.engine.premises import Premises
from steelyard.runtime.engine.stats import Counters
from steelyard.runtime.engine.waiting import find_group, waited
from steelyard.runtime.logfiles import LogFiles
from steelyard.runtime.swarm.cluster import Cluster, Node, Task, look
from steelyard.runtime.swarm.engines import Engines
from steelyard.runtime.swarm.image import reference
from steelyard.runtime.swarm.recipe import Recipe, privileges_kept
from steelyard.runtime.swarm.service import Body, Service, discard

_LOOK_EVERY = 0.1  # seconds between two questions to the manager
_UNPLACED = 3.0  # seconds for the swarm to find a node for a task
_NAME_TAKEN = 409
_PRIVILEGES = (
    "no-new-privileges is not in force: this swarm does not know the option; set it in each node's "
    "daemon.json"
)


class Launcher:
    """Creates services, and finds out where their tasks run."""

    def __init__(
        self,
        premises: Premises,
        recipe: Recipe,
        engines: Engines,
        logs: LogFiles,
        clock: Callable[[], float],
    ) -> None:
        self.notes: list[str] = []
        self._premises = premises
        self._recipe = recipe
        self._engines = engines
        self._logs = logs
        self._clock = clock
        self._client: Docker

    def open(self, client: Docker) -> None:
        """Set the client of the manager's engine."""
        self._client = client
        self.notes.clear()

    async def launch(self, name: str) -> Service:
        """Start one worker on any node; if that raises StartError, nothing of it is left."""
        mark = self._recipe.mark(name, self._premises.allowance)
        id = await self._create(mark)  # noqa: A001
        try:
            await self._note_privileges(id)
            return await self._arrival(mark, id)
        except BaseException:
            await discard(self._client, id, name, self._logs)
            raise

    async def _create(self, mark: Mark) -> str:
        await self._premises.image.ensure(self._client)
        network = await self._premises.network.ensure(self._client)
        image = await reference(self._client, self._premises.image)
        with told(f"worker {mark.name} cannot be started"):
            try:
                wish = self._recipe.service(mark, image, network)
                return str((await self._client.services.create(**wish))["ID"])
            except DockerError as error:
                if error.status != _NAME_TAKEN:
                    raise
                raise StartError(
                    f"there is a service {mark.name} already, and it is not ours to remove",
                    hint=f"docker service rm {mark.name}, if it is of no use to anybody",
                ) from error

    async def _note_privileges(self, id: str) -> None:  # noqa: A002
        with told("the service cannot be inspected"):
            shown = await self._client.services.inspect(id)
        if not privileges_kept(shown) and _PRIVILEGES not in self.notes:
            self.notes.append(_PRIVILEGES)

    async def _arrival(self, mark: Mark, id: str) -> Service:  # noqa: A002
        """Wait until the task runs, however long its node takes to pull the image."""
        began = self._clock()
        while True:
            cluster = await look(self._client, json.dumps({"service": [id]}))
            task = cluster.tasks.get(id)
            if task is not None:
                if (reason := cluster.end(id)) is not None:
                    raise StartError(
                        f"worker {mark.name} ended at once: {reason}",
                        hint=f"does `docker run {self._premises.image.name}` go on running?",
                    )
                if (worker := await self.service(mark, id, task, cluster)) is not None:
                    return worker
                if task.unplaced and self._clock() - began > _UNPLACED:
                    raise StartError(
                        f"no node takes worker {mark.name}: {task.unplaced}",
                        hint="docker node ls; see `constraints`, `cpus` and `memory` in [runtime]",
                    )
            await asyncio.sleep(_LOOK_EVERY)

    async def service(
        self,
        mark: Mark,
        id: str,  # noqa: A002
        task: Task,
        cluster: Cluster,
    ) -> Service | None:
        """The worker of this service; None if its task does not run yet."""
        node = cluster.nodes.get(task.node)
        if not task.running or node is None:
            return None
        address = (node.address, task.port)
        if mark.reach == "network":
            address = (mark.name, mark.port)
        host, port = address
        if port is None:
            return None
        body = await self._body(task, node)
        return Service(self._client, self._logs, id, mark, host, port, node.name, body)

    async def _body(self, task: Task, node: Node) -> Body | None:
        client = await self._engines.of(node)
        if client is None:
            return None
        container = client.containers.container(task.container)
        try:
            shown = await container.show()
        except (DockerError, aiohttp.ClientError, OSError):
            return None  # the container has just ended, or its engine does not answer
        group = find_group(shown["Id"], shown["State"]["Pid"])
        counters = Counters(container, self._clock, lambda: waited(group))
        return Body(client, task.container, stop_signal(shown), counters)
