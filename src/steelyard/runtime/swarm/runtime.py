"""Workers as services of a Docker Swarm, one each.

start ───> image, network, service ─> its task runs ──┐
                                                      ├─> watched ─> its task has ended, or its
running ─> services with our labels ──────────────────┘              node is down ─> its last words
                                                                     are kept, it is removed ─> Exit

A service outlives the agent: nothing ties it to us but its labels, by which the next agent finds
it again. The manager is asked how all tasks are, at once and often (cluster); nothing else tells
of an end on another node.
"""

from __future__ import annotations

import asyncio
import contextlib
import json
import logging
import time
from collections.abc import AsyncIterator, Callable, Mapping
from pathlib import Path
from typing import Any

import aiohttp
from aiodocker import Docker
from aiodocker.exceptions import DockerError

from steelyard.config import settings
from steelyard.core.usage import Allowance, Sample
from steelyard.errors import StartError, SteelyardError, UsageError
from steelyard.runtime.base import Exit, Running
from steelyard.runtime.engine.connection import connect, missing, told
from steelyard.runtime.engine.container import end_reason, remove, stop_signal
from steelyard.runtime.engine.image import Image
from steelyard.runtime.engine.labels import Mark, Owner, read_mark
from steelyard.runtime.engine.limits import enforced
from steelyard.runtime.engine.network import Network
from steelyard.runtime.engine.stats import Counters
from steelyard.runtime.engine.waiting import find_group, waited
from steelyard.runtime.logfiles import LogFiles
from steelyard.runtime.swarm.cluster import Cluster, Task, look, require_swarm
from steelyard.runtime.swarm.image import reference
from steelyard.runtime.swarm.recipe import Recipe, privileges_kept
from steelyard.runtime.swarm.service import Here, Service, keep_log, read_log, remove_service

log = logging.getLogger(__name__)

LOOK_EVERY = 0.3  # seconds
_BOOT_EVERY = 0.1  # while a task is on its way
_UNPLACED = 3.0  # seconds in which a node must be found for a task
_FIRST_STATS = 3.0  # seconds; the engine tells every second
_NAME_TAKEN = 409
_OPEN = (
    "the workers' ports are open on every address of their nodes: a swarm publishes no other way; "
    "with runtime.reach = network nothing is published"
)
_PRIVILEGES = (
    "no-new-privileges is not in force: this engine's swarm cannot; set it in each node's "
    "daemon.json"
)


class SwarmRuntime:
    """Starts, stops, finds and measures services."""

    kind = "swarm"

    def __init__(
        self,
        application: settings.Application,
        runtime: settings.Runtime,
        folder: Path,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        if runtime.image is None or runtime.port is None:
            raise UsageError(
                "a service needs an image, and the port that it listens on",
                hint="steelyard up --runtime swarm --image IMAGE --port N",
            )
        self.notes: list[str] = []
        self._owner = Owner(application.name, str(folder.resolve()))
        self._pull = runtime.pull
        self._image = Image(runtime.image, runtime.pull)
        name = runtime.network or f"steelyard-{application.name}"
        self._network = Network(name, self._owner, "overlay")
        self._recipe = Recipe(application, runtime, self._owner, runtime.port)
        self._published = runtime.reach == "loopback"
        self._wanted = Allowance(runtime.cpus, runtime.memory)
        self._allowance = Allowance()
        self._clock = clock
        self._logs = LogFiles(folder / "logs")
        self._starting: set[str] = set()
        self._workers: dict[str, Service] = {}
        self._ending: dict[str, asyncio.Task[None]] = {}
        self._following: dict[str, asyncio.Task[None]] = {}
        self._watch: asyncio.Task[None] | None = None
        self._exits: asyncio.Queue[Exit | None] = asyncio.Queue()
        self._here = ""  # the node of the engine that we talk to
        self._client: Docker  # from open to close

    async def open(self) -> None:
        """Find the swarm, the image and the network, and adopt the workers that run."""
        self._logs.open()
        self._client, info = await connect()
        try:
            require_swarm(info)
            self._here = info["Swarm"]["NodeID"]
            self._allowance, self.notes[:] = enforced(self._wanted, info)
            if self._published:
                self.notes.append(_OPEN)
            await self._image.prepare(self._client)
            await self._network.ensure(self._client)
            await self.running()
        except BaseException:
            await self.close()
            raise
        self._logs.prune(self._workers)
        self._watch = asyncio.create_task(self._watch_tasks())

    async def close(self) -> None:
        """Stop watching; the workers go on, and the network with them."""
        watch = [self._watch] if self._watch else []
        tasks = [*watch, *self._ending.values(), *self._following.values()]
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
        for known in (self._ending, self._following, self._workers):
            known.clear()
        with contextlib.suppress(SteelyardError):
            await self._network.remove(self._client)
        await self._client.close()
        self._exits.put_nowait(None)

    async def start(self, name: str) -> Running:
        """Start one service, wait for its task; raise StartError and leave nothing behind."""
        if name in self._workers or name in self._starting:
            raise StartError(f"worker {name} runs already")
        self._starting.add(name)
        try:
            await self._image.ensure(self._client)
            worker = await self._launch(self._recipe.mark(name, self._allowance))
            if worker.here is not None:
                worker.here.counters.begin()
            return self._look_after(worker)
        finally:
            self._starting.discard(name)

    async def stop(self, name: str, grace: float) -> None:
        """The image's stop signal; after `grace`, KILL. On other nodes the swarm does both."""
        worker = self._workers.get(name)
        if worker is None:
            return
        if grace > 0:
            await worker.ask(self._logs)
            with contextlib.suppress(TimeoutError):
                await asyncio.wait_for(worker.over.wait(), grace)
        if not worker.over.is_set():
            await worker.insist(self._logs)
            await worker.over.wait()

    async def running(self) -> list[Running]:
        """Ask the manager: adopt workers not known yet, remove those that have ended."""
        with told("services cannot be listed"):
            found = await self._client.services.list(filters=json.loads(self._owner.filters()))
        cluster = await look(self._client, self._owner.filters())
        for one in found:
            mark = read_mark(one["Spec"].get("Labels") or {})
            # Who has our labels but not the name they say has them from somebody else.
            if mark is None or mark.name != one["Spec"]["Name"]:
                continue
            if mark.name not in self._workers and mark.name not in self._starting:
                await self._adopt(mark, one["ID"], cluster)
        return [worker.running for worker in self._workers.values()]

    async def sample(self) -> dict[str, Sample]:
        """The newest counters of each worker on the node of our engine.

        A manager tells nothing of those on other nodes (docs/decisions/0019).
        """
        here = {name: worker.here for name, worker in self._workers.items() if worker.here}
        newest = [one.counters.newest(_FIRST_STATS) for one in here.values()]
        samples = dict(zip(here, await asyncio.gather(*newest), strict=True))
        return {name: it for name, it in samples.items() if it and name in self._workers}

    async def exits(self) -> AsyncIterator[Exit]:
        """Each end of a worker, once, until the runtime is closed."""
        while (one := await self._exits.get()) is not None:
            yield one

    async def logs(self, name: str, lines: int) -> str:
        """What the swarm keeps of a worker that runs, and we of one that has ended."""
        worker = self._workers.get(name)
        if worker is None or worker.kept or lines <= 0:
            return await asyncio.to_thread(self._logs.tail, name, lines)
        try:
            return await read_log(self._client, worker.id, lines)
        except DockerError as error:
            if missing(error):  # it has just ended
                return await asyncio.to_thread(self._logs.tail, name, lines)
            raise StartError(f"no log of worker {name}: {error.message}") from error
        except TimeoutError:
            raise StartError(f"no log of worker {name}: its node does not answer") from None

    async def _launch(self, mark: Mark) -> Service:
        id = await self._create(mark)  # noqa: A001
        try:
            return await self._arrival(mark, id)
        except BaseException:
            await keep_log(self._client, id, mark.name, self._logs)
            await self._discard(id)
            raise

    async def _create(self, mark: Mark) -> str:
        network = await self._network.ensure(self._client)
        image = await reference(self._client, self._image.name, self._pull)
        with told(f"worker {mark.name} cannot be started"):
            try:
                wish = self._recipe.service(mark, image, network)
                id = str((await self._client.services.create(**wish))["ID"])  # noqa: A001
                self._note_privileges(await self._client.services.inspect(id))
                return id
            except DockerError as error:
                if error.status != _NAME_TAKEN:
                    raise
                raise StartError(
                    f"there is a service {mark.name} already, and it is not ours to remove",
                    hint=f"docker service rm {mark.name}, if it is of no use to anybody",
                ) from error

    def _note_privileges(self, shown: Mapping[str, Any]) -> None:
        if not privileges_kept(shown) and _PRIVILEGES not in self.notes:
            self.notes.append(_PRIVILEGES)

    async def _arrival(self, mark: Mark, id: str) -> Service:  # noqa: A002
        """Wait until its task runs, however long a node takes for the image."""
        began = self._clock()
        while True:
            cluster = await look(self._client, json.dumps({"service": [id]}))
            task = cluster.tasks.get(id)
            if task is not None:
                if (reason := cluster.end(id)) is not None:
                    raise StartError(
                        f"worker {mark.name} ended at once: {reason}",
                        hint=f"does `docker run {self._image.name}` go on running?",
                    )
                if (worker := await self._service(mark, id, task, cluster)) is not None:
                    return worker
                if task.unplaced and self._clock() - began > _UNPLACED:
                    raise StartError(
                        f"no node takes worker {mark.name}: {task.unplaced}",
                        hint="docker node ls; see `constraints`, `cpus` and `memory` in [runtime]",
                    )
            await asyncio.sleep(_BOOT_EVERY)

    async def _service(
        self,
        mark: Mark,
        id: str,  # noqa: A002
        task: Task,
        cluster: Cluster,
    ) -> Service | None:
        """The service as ours to look after; None: its task does not run yet."""
        if not task.running:
            return None
        node = cluster.nodes.get(task.node)
        if mark.reach == "network":
            host, port = mark.name, mark.port
        elif node is not None and task.port is not None:
            host, port = node.address, task.port
        else:
            return None
        here = await self._find_here(task) if task.node == self._here else None
        place = node.name if node is not None else task.node
        return Service(self._client, id, mark, host, port, place, here)

    async def _find_here(self, task: Task) -> Here | None:
        container = self._client.containers.container(task.container)
        try:
            shown = await container.show()
        except DockerError as error:
            if missing(error):
                return None
            raise
        group = find_group(shown["Id"], shown["State"]["Pid"])
        counters = Counters(container, self._clock, lambda: waited(group))
        return Here(task.container, stop_signal(shown), counters)

    async def _adopt(self, mark: Mark, id: str, cluster: Cluster) -> None:  # noqa: A002
        """Look after a worker of an earlier agent; remove one that has ended or never began."""
        task = cluster.tasks.get(id)
        worker = None
        if task is not None and cluster.end(id) is None:
            with told(f"worker {mark.name} cannot be looked at"):
                worker = await self._service(mark, id, task, cluster)
        if mark.name in self._workers:  # adopted by another look meanwhile
            return
        if worker is not None:
            self._look_after(worker)
            return
        await keep_log(self._client, id, mark.name, self._logs)
        await self._discard(id)

    def _look_after(self, worker: Service) -> Running:
        name = worker.mark.name
        self._workers[name] = worker
        if worker.here is not None:
            self._following[name] = asyncio.create_task(worker.here.counters.follow())
        return worker.running

    async def _watch_tasks(self) -> None:
        """See ends, all of them in one look; a manager that is away is asked again."""
        while True:
            await asyncio.sleep(LOOK_EVERY)
            known = {**self._workers}  # who comes while we look is not missing from what we see
            if not known:
                continue
            try:
                cluster = await look(self._client, self._owner.filters())
            except SteelyardError as error:
                log.debug("%s", error.message)
                continue
            for name, worker in known.items():
                reason = cluster.end(worker.id)
                if reason is not None and name not in self._ending:
                    self._ending[name] = asyncio.create_task(self._see_off(worker, reason))

    async def _see_off(self, worker: Service, reason: str) -> None:
        name = worker.mark.name
        reason = await self._first_hand(worker) or reason
        with contextlib.suppress(DockerError, aiohttp.ClientError, OSError):
            await worker.remove(self._logs)
        if worker.here is not None:
            await remove(self._client, worker.here.id)
            self._following.pop(name).cancel()
        del self._workers[name], self._ending[name]
        self._logs.prune(self._workers)
        self._exits.put_nowait(Exit(name, reason))
        worker.over.set()

    async def _first_hand(self, worker: Service) -> str:
        """Why it ended, from our engine: a swarm does not tell who ran out of memory."""
        if worker.here is None:
            return ""
        try:
            state = (await self._client.containers.container(worker.here.id).show())["State"]
        except (DockerError, aiohttp.ClientError, OSError):
            return ""
        return "" if state["Running"] else end_reason(state)

    async def _discard(self, id: str) -> None:  # noqa: A002
        """Where it fails, `running` finds the remains later."""
        with contextlib.suppress(DockerError, aiohttp.ClientError, OSError):
            await remove_service(self._client, id)
