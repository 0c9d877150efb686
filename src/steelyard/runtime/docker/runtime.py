"""Workers as Docker containers.

start ───> image, network, create, start ──┐
                                           ├─> watched ─> it ends ─> its last lines are kept,
running ─> containers with our labels ─────┘              it is removed ─> Exit

A container outlives the agent: nothing ties the container to the agent but its labels, by which the
next agent finds it. Containers that ended while no agent was running are removed when found.
"""

from __future__ import annotations

import asyncio
import contextlib
import time
from collections.abc import AsyncGenerator, AsyncIterator, Callable
from pathlib import Path
from typing import Any

import aiohttp
from aiodocker import Docker
from aiodocker.containers import DockerContainer
from aiodocker.exceptions import DockerError

from steelyard.config import settings
from steelyard.core.usage import Sample
from steelyard.errors import StartError, SteelyardError
from steelyard.runtime.base import Exit, Line, Running, Shown
from steelyard.runtime.docker.container import Container, address_of
from steelyard.runtime.docker.recipe import Recipe
from steelyard.runtime.engine.connection import LEAVE, EngineError, connect, missing, ping, told
from steelyard.runtime.engine.container import (
    end_reason,
    remove,
    stop_signal,
)
from steelyard.runtime.engine.labels import Mark, read_mark
from steelyard.runtime.engine.logs import Source, keep_log, read_log, worker_lines
from steelyard.runtime.engine.premises import Premises
from steelyard.runtime.engine.stats import Counters, newest
from steelyard.runtime.engine.waiting import find_group, waited
from steelyard.runtime.logfiles import LogFiles
from steelyard.runtime.stopping import stop

_NAME_TAKEN = 409


class DockerRuntime:
    """Starts, stops, finds and measures containers."""

    kind = "docker"

    def __init__(
        self,
        application: settings.Application,
        runtime: settings.Runtime,
        folder: Path,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self.notes: list[str] = []
        self._premises = Premises(application, runtime, folder, "bridge")
        self._owner = self._premises.owner
        self._image = self._premises.image
        self._network = self._premises.network
        self._recipe = Recipe(application, runtime, self._premises)
        self._clock = clock
        self._logs = LogFiles(folder / "logs")
        self._starting: set[str] = set()
        self._workers: dict[str, Container] = {}
        self._tasks: dict[str, list[asyncio.Task[None]]] = {}
        self._exits: asyncio.Queue[Exit | None] = asyncio.Queue()
        self._answers = True  # whether the engine answered the last ping
        self._client: Docker  # set from `open` to `close`

    async def open(self) -> None:
        """Find the engine, the image and the network, and adopt the workers that run."""
        self._logs.open()
        self._client, info = await connect()
        try:
            self.notes[:] = await self._premises.enter(self._client, info)
            await self.running()
        except BaseException:
            await self.close()
            raise
        self._logs.prune(self._workers)

    async def ping(self) -> None:
        """Ask the engine whether it is there."""
        self._answers = False
        await ping(self._client)
        self._answers = True

    async def close(self) -> None:
        """Stop watching; the workers go on running, and their network stays."""
        tasks = [task for both in self._tasks.values() for task in both]
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
        self._tasks.clear()
        self._workers.clear()
        with contextlib.suppress(SteelyardError, TimeoutError):
            if self._answers:
                async with asyncio.timeout(LEAVE):
                    await self._network.remove(self._client)
        await self._client.close()
        self._exits.put_nowait(None)

    async def start(self, name: str) -> Running:
        """Start one container; if that raises StartError, nothing of it is left."""
        if name in self._workers or name in self._starting:
            raise StartError(f"worker {name} runs already")
        self._starting.add(name)
        try:
            await self._image.ensure(self._client)
            await self._network.ensure(self._client)
            worker = await self._launch(self._recipe.mark(name, self._premises.allowance))
            worker.counters.begin()
            return self._watch(worker)
        finally:
            self._starting.discard(name)

    async def stop(self, name: str, grace: float) -> None:
        """Send the image's stop signal; after `grace` seconds, SIGKILL."""
        worker = self._workers.get(name)
        if worker is not None:
            await stop(worker, grace)

    async def running(self) -> list[Running]:
        """List the containers: adopt workers not known yet, remove those that have ended."""
        # a worker that starts meanwhile must not count as ended because the list lacks it
        known = {**self._workers}
        with told("containers cannot be listed"):
            found = await self._client.containers.list(all=True, filters=self._owner.filters())
        for one in found:
            mark = read_mark(one["Labels"])
            # A container whose name differs from the one in its labels was not made by an agent.
            if mark is None or f"/{mark.name}" not in one["Names"]:
                continue
            if mark.name not in self._workers and mark.name not in self._starting:
                await self._adopt(mark, one)
        ended = known.keys() - {one["Names"][0][1:] for one in found if one["State"] == "running"}
        return [worker.running for name, worker in self._workers.items() if name not in ended]

    async def sample(self) -> dict[str, Sample]:
        """The newest counters of each worker."""
        counters = {name: worker.counters for name, worker in self._workers.items()}
        return {name: it for name, it in (await newest(counters)).items() if name in self._workers}

    async def exits(self) -> AsyncIterator[Exit]:
        """Yield the end of each worker once, until the runtime is closed."""
        while (one := await self._exits.get()) is not None:
            yield one

    async def logs(self, name: str, lines: int) -> str:
        """The last lines, from the engine or, if the worker has ended, from our file."""
        worker = self._workers.get(name)
        if worker is None or lines <= 0:
            return await asyncio.to_thread(self._logs.tail, name, lines)
        try:
            return await read_log(self._client, f"containers/{worker.id}", lines)
        except DockerError as error:
            if error.status in {404, 409}:  # the container has just ended
                return await asyncio.to_thread(self._logs.tail, name, lines)
            raise StartError(f"no log of worker {name}: {error.message}") from error
        except (aiohttp.ClientError, OSError) as error:
            raise EngineError(f"no log of worker {name}: {error}") from error

    async def lines(
        self, name: str, last: int | None, shown: Shown, *, follow: bool
    ) -> AsyncGenerator[Line]:
        """Yield a worker's lines, from the engine or, if the worker has ended, from our file."""
        worker = self._workers.get(name)
        source = None
        if worker is not None:
            source = Source(self._client, f"containers/{worker.id}", worker.over)
        found = worker_lines(source, self._logs, name, last, shown, follow=follow)
        async with contextlib.aclosing(found):
            async for line in found:
                yield line

    async def _launch(self, mark: Mark) -> Container:
        container = await self._create(mark)
        try:
            await container.start()
            shown = await container.show()
            if (worker := self._container(mark, shown)) is None:
                await keep_log(self._client, f"containers/{container.id}", mark.name, self._logs)
                raise StartError(
                    f"worker {mark.name} ended at once: {end_reason(shown['State'])}",
                    hint=f"does `docker run {self._image.name}` go on running?",
                )
        except DockerError as error:
            await remove(self._client, container.id)
            raise self._failure(mark.name, error) from error
        except (aiohttp.ClientError, OSError) as error:  # `running` finds the container later
            raise EngineError(f"worker {mark.name} cannot be started: {error}") from error
        except BaseException:
            await remove(self._client, container.id)
            raise
        return worker

    async def _create(self, mark: Mark) -> DockerContainer:
        try:
            return await self._client.containers.create(
                self._recipe.container(mark), name=mark.name
            )
        except DockerError as error:
            if error.status == _NAME_TAKEN:
                raise StartError(
                    f"there is a container {mark.name} already, and it is not ours to remove",
                    hint=f"docker rm {mark.name}, if it is of no use to anybody",
                ) from error
            raise self._failure(mark.name, error) from error

    def _failure(self, name: str, error: DockerError) -> StartError:
        return StartError(
            f"worker {name} cannot be started: {error.message}",
            hint=f"does `docker run {self._image.name}` work by itself?",
        )

    async def _adopt(self, mark: Mark, found: DockerContainer) -> None:
        """Watch a worker of an earlier agent, or remove it if it has ended."""
        try:
            shown = await found.show()
        except DockerError as error:
            if missing(error):
                return
            raise StartError(f"worker {mark.name} cannot be inspected: {error.message}") from error
        if mark.name in self._workers:  # another call of `running` adopted the worker meanwhile
            return
        if (worker := self._container(mark, shown)) is not None:
            self._watch(worker)
            return
        await keep_log(self._client, f"containers/{found.id}", mark.name, self._logs)
        await remove(self._client, found.id)

    def _container(self, mark: Mark, shown: dict[str, Any]) -> Container | None:
        """The worker of this container; None if it has ended."""
        address = address_of(mark, shown)
        if address is None or not shown["State"]["Running"]:
            return None
        group = find_group(shown["Id"], shown["State"]["Pid"])
        container = self._client.containers.container(shown["Id"])
        counters = Counters(container, self._clock, lambda: waited(group))
        signal = stop_signal(shown)
        return Container(self._client, shown["Id"], mark, *address, signal, counters)

    def _watch(self, worker: Container) -> Running:
        name = worker.mark.name
        self._workers[name] = worker
        self._tasks[name] = [
            asyncio.create_task(self._see_to_its_end(worker)),
            asyncio.create_task(worker.counters.follow()),
        ]
        return worker.running

    async def _see_to_its_end(self, worker: Container) -> None:
        reason = await worker.end()
        name = worker.mark.name
        await keep_log(self._client, f"containers/{worker.id}", name, self._logs)
        await remove(self._client, worker.id)
        _, following = self._tasks.pop(name)
        following.cancel()
        del self._workers[name]
        self._logs.prune(self._workers)
        self._exits.put_nowait(Exit(name, reason))
        worker.over.set()
