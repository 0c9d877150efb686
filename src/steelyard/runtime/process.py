"""Workers as local processes.

start ──> launch (own session, mark in environment) ────┐
                                                        ├─> watched ─> leader ends ─> the rest
running ─> scan of the machine ─> adopt ────────────────┘              is killed ─> Exit

A worker is the leader of its session. It outlives the agent: nothing ties the worker to the agent
but the mark, by which the next agent finds it with `running`. When the leader ends, for whatever
reason, the rest of its session, its process group, its control group (where we may make one) and
every process with its mark are killed before the Exit is reported.
"""

from __future__ import annotations

import asyncio
import contextlib
import logging
import random
import signal
import time
from collections.abc import AsyncGenerator, AsyncIterator, Callable
from pathlib import Path

from steelyard.config import settings
from steelyard.core.usage import Allowance, Sample
from steelyard.errors import StartError
from steelyard.runtime import cgroup, scan
from steelyard.runtime.base import Exit, Line, Running, Shown, gap
from steelyard.runtime.launch import Launcher
from steelyard.runtime.limits import Limits
from steelyard.runtime.log_text import ALL, Splitter, newest
from steelyard.runtime.logfiles import LogFiles
from steelyard.runtime.names import is_worker_name
from steelyard.runtime.orphans import Orphans
from steelyard.runtime.ports import free_port
from steelyard.runtime.procfs import Process, send
from steelyard.runtime.register import Register
from steelyard.runtime.sampling import sample_workers
from steelyard.runtime.seal import Seal, open_seal
from steelyard.runtime.stopping import stop
from steelyard.runtime.worker import Worker, look_after

log = logging.getLogger(__name__)

TIDY_EVERY = 1.0  # seconds between two checks of the logs' sizes
READ_EVERY = 0.2  # seconds between two reads of a followed log


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
        *,
        alone: bool = False,
    ) -> None:
        """`alone`: this program starts no processes but workers, so every orphan is a worker's."""
        self._application = application.name
        self._ports = runtime.ports
        self._home = str(folder.resolve())
        self._folder = folder
        self._seal: Seal  # set by `open`
        self._strangers: set[Process] = set()  # strangers that the log has named
        self._rng = rng
        self._clock = clock
        self._logs = LogFiles(folder / "logs")
        self._register = Register(folder / "workers")
        wanted = Allowance(runtime.cpus, runtime.memory)
        self._limits = Limits(cgroups, application.name, self._home, wanted)
        self._launcher = Launcher(application, self._home, self._limits, self._logs)
        self._log_size = runtime.log_size
        self._orphans = Orphans(self._living)
        self._alone = alone
        self._tidying: asyncio.Task[None] | None = None
        self._workers: dict[str, Worker] = {}
        self._watches: dict[str, asyncio.Task[None]] = {}
        self._exits: asyncio.Queue[Exit | None] = asyncio.Queue()

    @property
    def notes(self) -> list[str]:
        """Messages for people about settings that this machine cannot honour."""
        return [*self._limits.notes, *self._logs.notes]

    async def open(self) -> None:
        """Find out what this machine can enforce, and adopt the workers that run on it."""
        self._seal = open_seal(self._folder)
        self._logs.open()
        await asyncio.to_thread(self._limits.open)
        if self._alone and not self._limits.contained:
            self._orphans.take()
        await self.running()
        self._limits.tidy(self._workers)
        self._logs.prune(self._workers)
        self._register.prune(self._workers)
        self._tidying = asyncio.create_task(self._tidy())

    async def ping(self) -> None:
        """Always succeed: the kernel is always there."""

    async def close(self) -> None:
        """Stop watching; the workers go on running."""
        watches = [*self._watches.values(), *([self._tidying] if self._tidying else [])]
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
        if not is_worker_name(name):
            raise StartError(f"{name!a} cannot be the name of a worker")
        if name in self._workers:
            raise StartError(f"worker {name} runs already")
        taken = {worker.mark.port for worker in self._workers.values()}
        port = free_port(self._ports, taken, self._rng)
        # Nothing is awaited from here on. A scan by `running` may see the new process at any time,
        # but its result is handled only after the worker is known, and so the worker is not taken
        # for a stranger.
        launched = self._launcher.launch(name, port, self._seal)
        return self._watch(look_after(*launched, self._orphans))

    async def stop(self, name: str, grace: float) -> None:
        """Send SIGTERM to the process group; after `grace` seconds, SIGKILL to all that is left."""
        worker = self._workers.get(name)
        if worker is not None:
            await stop(worker, grace)

    async def running(self) -> list[Running]:
        """Scan the machine: adopt workers not known yet, kill the remains of workers that ended."""
        found = await asyncio.to_thread(
            scan.find_marked, self._home, self._application, self._register, self._seal
        )
        known = {worker.process for worker in self._workers.values()}
        # A worker that is just starting carries its mark before it is in its control group.
        self._tell_of([one for one in found.strangers if one.process not in known])
        for leader in scan.leaders(found.marked):
            self._adopt(leader)
        for one in found.marked:
            if one.mark.name not in self._workers:
                send(one.stat.process, signal.SIGKILL)
        return [worker.running for worker in self._workers.values() if not worker.dead]

    async def sample(self) -> dict[str, Sample]:
        """Read the counters of all running workers; in a thread, as that walks through /proc."""
        processes = {name: worker.process for name, worker in self._workers.items()}
        return await asyncio.to_thread(sample_workers, processes, self._clock)

    async def exits(self) -> AsyncIterator[Exit]:
        """Yield the end of each worker once, until the runtime is closed."""
        while (one := await self._exits.get()) is not None:
            yield one

    async def logs(self, name: str, lines: int) -> str:
        """The last lines of the worker's log file."""
        return await asyncio.to_thread(self._logs.tail, name, lines)

    async def lines(
        self, name: str, last: int | None, shown: Shown, *, follow: bool
    ) -> AsyncGenerator[Line]:
        """Yield lines of the worker's log file; the time of a followed line is when it was read."""
        splitter = Splitter()
        block = await asyncio.to_thread(self._logs.begin, name, None if last is None else ALL)
        read = splitter.feed(block.text)
        if not follow:
            read += splitter.end()  # a last line without its newline is one of the last lines
        for text in newest(filter(shown, read), last):
            yield Line(text)
        while follow:
            # checked before the read: if the worker has ended, the file is complete
            ended = name not in self._workers
            block = await asyncio.to_thread(self._logs.read_on, name, block.place)
            if block.gap:
                yield gap(time.time())
            for text in filter(shown, splitter.feed(block.text)):
                yield Line(text, time.time())
            if ended and not block.text:
                break
            if not block.text:
                await asyncio.sleep(READ_EVERY)
        for text in filter(shown, splitter.end()):
            yield Line(text, time.time())

    def _tell_of(self, strangers: list[scan.Stranger]) -> None:
        """Warn of each stranger once; no text written by a stranger enters the log line."""
        for one in strangers:
            if one.process not in self._strangers:
                log.warning(
                    "process %d claims to be a worker of this application, but %s: left alone",
                    one.process.pid,
                    one.problem,
                )
        self._strangers = {one.process for one in strangers}

    async def _tidy(self) -> None:
        while True:
            await asyncio.to_thread(self._logs.look_after, {*self._workers}, self._log_size)
            # on a full disk, some workers could not be entered at first
            for worker in self._workers.values():
                if not self._register.has(worker.mark.name):
                    self._register.enter(worker.mark, worker.process)
            self._orphans.reap({worker.process for worker in self._workers.values()})
            await asyncio.sleep(TIDY_EVERY)

    def _living(self) -> set[Process]:
        return {worker.process for worker in self._workers.values() if not worker.dead}

    def _adopt(self, found: scan.Marked) -> None:
        """Watch a worker of an earlier agent, unless it is watched already or has just ended."""
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
