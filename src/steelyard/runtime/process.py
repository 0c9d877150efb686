"""Workers as local processes.

start ──> launch (own session, mark in environment) ────┐
                                                        ├─> watched ─> leader ends ─> the rest
running ─> scan of the machine ─> adopt ────────────────┘              is swept ─> Exit

The worker is the leader of its session. It outlives the agent: nothing ties it to us but the
mark, by which the next agent finds it again with `running`. It does not outlive itself: when
the leader ends, for whatever reason, the rest of its session, its group and everything that
carries its mark is killed before the Exit is told.
"""

from __future__ import annotations

import asyncio
import contextlib
import random
import signal
import time
from collections.abc import AsyncIterator, Callable
from pathlib import Path

from steelyard.config import settings
from steelyard.core.usage import Allowance, Sample
from steelyard.errors import StartError
from steelyard.runtime import cgroup, scan
from steelyard.runtime.base import Exit, Running
from steelyard.runtime.launch import Launcher
from steelyard.runtime.limits import Limits
from steelyard.runtime.logfiles import LogFiles
from steelyard.runtime.ports import free_port
from steelyard.runtime.procfs import send
from steelyard.runtime.register import Register
from steelyard.runtime.sampling import sample_workers
from steelyard.runtime.stopping import stop
from steelyard.runtime.worker import Worker, look_after


class ProcessRuntime:
    """Starts, stops, finds and measures local processes."""

    kind = "process"

    def __init__(
        self,
        application: settings.Application,
        runtime: settings.Runtime,
        folder: Path,
        rng: random.Random,
        clock: Callable[[], float] = time.monotonic,
        cgroups: Path = cgroup.ROOT,
    ) -> None:
        self._application = application.name
        self._ports = runtime.ports
        self._home = str(folder.resolve())
        self._rng = rng
        self._clock = clock
        self._logs = LogFiles(folder / "logs")
        self._register = Register(folder / "workers")
        wanted = Allowance(runtime.cpus, runtime.memory)
        self._limits = Limits(cgroups, application.name, self._home, wanted)
        self._launcher = Launcher(application, self._home, self._limits, self._logs)
        self._workers: dict[str, Worker] = {}
        self._watches: dict[str, asyncio.Task[None]] = {}
        self._exits: asyncio.Queue[Exit | None] = asyncio.Queue()

    @property
    def notes(self) -> list[str]:
        """What was asked for and cannot be had on this machine."""
        return self._limits.notes

    async def open(self) -> None:
        """Find out what this machine can do, and adopt the workers that run on it."""
        self._logs.open()
        await asyncio.to_thread(self._limits.open)
        await self.running()
        self._limits.tidy(self._workers)
        self._logs.prune(self._workers)
        self._register.prune(self._workers)

    async def close(self) -> None:
        """Stop watching; the workers go on."""
        watches = list(self._watches.values())
        for watch in watches:
            watch.cancel()
        await asyncio.gather(*watches, return_exceptions=True)
        for worker in self._workers.values():
            worker.let_go()
        self._limits.tidy(self._workers)
        self._workers.clear()
        self._exits.put_nowait(None)

    async def start(self, name: str) -> Running:
        """Start one worker on a port of its own."""
        if name in self._workers:
            raise StartError(f"worker {name} runs already")
        taken = {worker.mark.port for worker in self._workers.values()}
        port = free_port(self._ports, taken, self._rng)
        # Nothing is awaited from here on: `running`, whose scan may see the process at any time,
        # goes on only when we know it, and so does not adopt it as a stranger.
        return self._watch(look_after(*self._launcher.launch(name, port)))

    async def stop(self, name: str, grace: float) -> None:
        """TERM to the group; after `grace`, KILL to everything that is left."""
        worker = self._workers.get(name)
        if worker is not None:
            await stop(worker, grace)

    async def running(self) -> list[Running]:
        """Scan the machine: adopt workers not known yet, kill remains of ones that ended."""
        marked = await asyncio.to_thread(
            scan.find_marked, self._home, self._application, self._register
        )
        for leader in scan.leaders(marked):
            self._adopt(leader)
        for one in marked:
            if one.mark.name not in self._workers:
                send(one.stat.process, signal.SIGKILL)
        return [worker.running for worker in self._workers.values() if not worker.dead]

    async def sample(self) -> dict[str, Sample]:
        """The counters of all running workers; in a thread, for the walks through /proc."""
        processes = {name: worker.process for name, worker in self._workers.items()}
        return await asyncio.to_thread(sample_workers, processes, self._clock)

    async def exits(self) -> AsyncIterator[Exit]:
        """Each end of a worker, once, until the runtime is closed."""
        while (one := await self._exits.get()) is not None:
            yield one

    async def logs(self, name: str, lines: int) -> str:
        """The last lines of the worker's log file."""
        return await asyncio.to_thread(self._logs.tail, name, lines)

    def _adopt(self, found: scan.Marked) -> None:
        """Look after a worker of an earlier agent, unless it is known or has just gone."""
        if found.mark.name not in self._workers:
            with contextlib.suppress(ProcessLookupError):
                self._watch(look_after(found.mark, found.stat.process))

    def _watch(self, worker: Worker) -> Running:
        name = worker.mark.name
        self._workers[name] = worker
        self._register.enter(worker.mark, worker.process)
        self._watches[name] = asyncio.create_task(self._see_to_its_end(worker))
        return worker.running

    async def _see_to_its_end(self, worker: Worker) -> None:
        reason = await worker.end()
        if not worker.asked and any(map(cgroup.ran_out_of_memory, worker.mark.groups)):
            reason += " (out of memory?)"
        for group in worker.mark.groups:
            cgroup.remove_group(group)
        self._forget(worker, reason)

    def _forget(self, worker: Worker, reason: str) -> None:
        name = worker.mark.name
        del self._workers[name], self._watches[name]
        worker.let_go()
        self._register.strike(name)
        self._logs.prune(self._workers)
        self._exits.put_nowait(Exit(name, reason))
        worker.over.set()
