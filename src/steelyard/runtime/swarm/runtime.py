"""Workers as services of a Docker Swarm, one each.

start ───> launch ─> its task runs ───────────────────┐
                                                      ├─> watched ─> its task has ended, or its
running ─> services with our labels ──────────────────┘              node is down ─> its last lines
                                                                     are kept, it is removed ─> Exit

A service outlives the agent: nothing ties the service to the agent but its labels, by which the
next agent finds it. The manager is asked often for the states of all tasks (cluster), as nothing
else tells of an end on another node.
"""

from __future__ import annotations

import asyncio
import contextlib
import json
import logging
import time
from collections.abc import AsyncGenerator, AsyncIterator, Callable
from pathlib import Path

import aiohttp
from aiodocker import Docker
from aiodocker.exceptions import DockerError

from steelyard.config import settings
from steelyard.core.usage import Sample
from steelyard.errors import StartError, SteelyardError
from steelyard.runtime.base import Exit, Line, Running, Shown
from steelyard.runtime.engine.connection import LEAVE, connect, missing, ping, told
from steelyard.runtime.engine.labels import Mark, read_mark
from steelyard.runtime.engine.logs import Source, worker_lines
from steelyard.runtime.engine.premises import Premises
from steelyard.runtime.engine.stats import newest
from steelyard.runtime.logfiles import LogFiles
from steelyard.runtime.stopping import stop
from steelyard.runtime.swarm.cluster import Cluster, look, require_swarm
from steelyard.runtime.swarm.engines import Engines
from steelyard.runtime.swarm.launch import Launcher
from steelyard.runtime.swarm.recipe import Recipe
from steelyard.runtime.swarm.service import Service, discard, read_log

log = logging.getLogger(__name__)

LOOK_EVERY = 0.3  # seconds between two questions to the manager
_PATIENCE = 3.0  # seconds for a manager to answer
_OPEN = (
    "the workers' ports are open on every address of their nodes: a swarm publishes no other way; "
    "with runtime.reach = network nothing is published"
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
        self._notes: list[str] = []
        self._premises = Premises(application, runtime, folder, "overlay")
        self._owner = self._premises.owner
        recipe = Recipe(application, runtime, self._premises)
        self._published = runtime.reach == "loopback"
        self._clock = clock
        self._logs = LogFiles(folder / "logs")
        self._starting: set[str] = set()
        self._workers: dict[str, Service] = {}
        # services whose end was reported, while the manager still lists them
        self._ended: set[str] = set()
        self._ending: dict[str, asyncio.Task[None]] = {}
        self._following: dict[str, asyncio.Task[None]] = {}
        self._watch: asyncio.Task[None] | None = None
        self._exits: asyncio.Queue[Exit | None] = asyncio.Queue()
        self._engines = Engines(runtime.engines)
        self._launcher = Launcher(self._premises, recipe, self._engines, self._logs, clock)
        self._answers = True  # whether the manager answered the last ping
        self._client: Docker  # the manager's, set from `open` to `close`

    @property
    def notes(self) -> list[str]:
        """Messages for people about settings that this swarm cannot honour."""
        return [*self._notes, *self._launcher.notes, *self._engines.notes]

    async def open(self) -> None:
        """Find the swarm, the image and the network, and adopt the workers that run."""
        self._logs.open()
        self._client, info = await connect()
        try:
            require_swarm(info)
            self._engines.open(info["Swarm"]["NodeID"], self._client)
            self._launcher.open(self._client)
            self._notes[:] = await self._premises.enter(self._client, info)
            if self._published:
                self._notes.append(_OPEN)
            await self.running()
        except BaseException:
            await self.close()
            raise
        self._logs.prune(self._workers)
        self._watch = asyncio.create_task(self._watch_tasks())

    async def ping(self) -> None:
        """Ask the manager for its nodes: a swarm without a leader cannot tell of tasks."""
        self._answers = False
        await ping(self._client)
        with told("the swarm cannot be inspected"):
            async with asyncio.timeout(_PATIENCE):
                await self._client.nodes.list()
        self._answers = True

    async def close(self) -> None:
        """Stop watching; the workers go on running, and their network stays."""
        watch = [self._watch] if self._watch else []
        tasks = [*watch, *self._ending.values(), *self._following.values()]
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
        for known in (self._ending, self._following, self._workers):
            known.clear()
        with contextlib.suppress(SteelyardError, TimeoutError):
            if self._answers:
                async with asyncio.timeout(LEAVE):
                    await self._premises.network.remove(self._client)
        await self._engines.close()
        await self._client.close()
        self._exits.put_nowait(None)

    async def start(self, name: str) -> Running:
        """Start one service, and wait for its task; if StartError is raised, nothing is left."""
        if name in self._workers or name in self._starting:
            raise StartError(f"worker {name} runs already")
        self._starting.add(name)
        try:
            worker = await self._launcher.launch(name)
            if worker.body is not None:
                worker.body.counters.begin()
            return self._look_after(worker)
        finally:
            self._starting.discard(name)

    async def stop(self, name: str, grace: float) -> None:
        """Send the image's stop signal; after `grace` seconds, SIGKILL.

        For workers on engines that we cannot reach, the swarm does both.
        """
        worker = self._workers.get(name)
        if worker is not None:
            await stop(worker, grace)

    async def running(self) -> list[Running]:
        """List the services: adopt workers not known yet, remove those that have ended."""
        # a worker that starts meanwhile must not count as ended because the list lacks it
        known = {**self._workers}
        with told("services cannot be listed"):
            found = await self._client.services.list(filters=json.loads(self._owner.filters()))
        cluster = await look(self._client, self._owner.filters())
        self._ended &= {one["ID"] for one in found}
        for one in found:
            mark = read_mark(one["Spec"].get("Labels") or {})
            # A service whose name differs from the one in its labels was not made by an agent.
            if mark is None or mark.name != one["Spec"]["Name"]:
                continue
            if mark.name not in self._workers and mark.name not in self._starting:
                await self._adopt(mark, one["ID"], cluster)
        ended = {name for name, worker in known.items() if cluster.end(worker.id) is not None}
        return [worker.running for name, worker in self._workers.items() if name not in ended]

    async def sample(self) -> dict[str, Sample]:
        """The newest counters of each worker whose engine we can reach."""
        bodies = {name: worker.body for name, worker in self._workers.items() if worker.body}
        counters = {name: body.counters for name, body in bodies.items()}
        return {name: it for name, it in (await newest(counters)).items() if name in self._workers}

    async def exits(self) -> AsyncIterator[Exit]:
        """Yield the end of each worker once, until the runtime is closed."""
        while (one := await self._exits.get()) is not None:
            yield one

    async def logs(self, name: str, lines: int) -> str:
        """The last lines, from the swarm or, if the worker has ended, from our file."""
        worker = self._workers.get(name)
        if worker is None or worker.kept or lines <= 0:
            return await asyncio.to_thread(self._logs.tail, name, lines)
        try:
            return await read_log(self._client, worker.id, lines)
        except DockerError as error:
            if missing(error):  # the service has just ended
                return await asyncio.to_thread(self._logs.tail, name, lines)
            raise StartError(f"no log of worker {name}: {error.message}") from error
        except TimeoutError:
            raise StartError(f"no log of worker {name}: its node does not answer") from None

    async def lines(
        self, name: str, last: int | None, shown: Shown, *, follow: bool
    ) -> AsyncGenerator[Line]:
        """Yield a worker's lines: from the swarm while it runs, from our file when it has ended."""
        worker = self._workers.get(name)
        source = None
        if worker is not None and not worker.kept:
            source = Source(self._client, f"services/{worker.id}", worker.over)
        found = worker_lines(source, self._logs, name, last, shown, follow=follow)
        async with contextlib.aclosing(found):
            async for line in found:
                yield line

    async def _adopt(self, mark: Mark, id: str, cluster: Cluster) -> None:  # noqa: A002
        """Watch a worker of an earlier agent; remove one that has ended or never began."""
        task = cluster.tasks.get(id)
        over = id in self._ended  # the cluster we see may be older than that end
        if over or task is None or not task.running or cluster.end(id) is not None:
            await discard(self._client, id, mark.name, self._logs)
            return
        worker = await self._launcher.service(mark, id, task, cluster)
        # A worker that cannot be reached yet is tried again; another call may have adopted it
        # meanwhile.
        if worker is not None and mark.name not in self._workers:
            self._look_after(worker)

    def _look_after(self, worker: Service) -> Running:
        name = worker.mark.name
        self._workers[name] = worker
        if worker.body is not None:
            self._following[name] = asyncio.create_task(worker.body.counters.follow())
        return worker.running

    async def _watch_tasks(self) -> None:
        """Find the ends of all workers with one question, and repeat that for ever.

        If the manager does not answer, the next question finds the ends.
        """
        while True:
            await asyncio.sleep(LOOK_EVERY)
            # a worker that starts meanwhile must not count as ended because the answer lacks it
            known = {**self._workers}
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
                    if cluster.lost(worker.id):
                        worker.lose()
                    self._ending[name] = asyncio.create_task(self._see_off(worker, reason))

    async def _see_off(self, worker: Service, reason: str) -> None:
        name = worker.mark.name
        self._ended.add(worker.id)
        reason = (await worker.body.end() if worker.body else "") or reason
        with contextlib.suppress(DockerError, aiohttp.ClientError, OSError):
            await worker.remove()
        if worker.body is not None:
            await worker.body.remove()
        if name in self._following:
            self._following.pop(name).cancel()
        del self._workers[name], self._ending[name]
        self._logs.prune(self._workers)
        self._exits.put_nowait(Exit(name, reason))
        worker.over.set()
