"""Workers that exist only in memory, for tests and the lab.

A StubMachine stands for the machine that workers run on. It outlives the runtimes that use it, as a
real machine outlives agents. Everything is scripted: no worker dies, fails or uses anything by
itself.
"""

from __future__ import annotations

import asyncio
import itertools
from collections.abc import AsyncGenerator, AsyncIterator, Callable
from dataclasses import dataclass, field, replace
from typing import ClassVar

from steelyard.core.usage import Sample
from steelyard.errors import Fault, StartError, SteelyardError, UsageError
from steelyard.runtime.base import Exit, Line, Running, Shown
from steelyard.runtime.log_text import newest

_LOOK_EVERY = 0.01  # seconds between two checks for new lines


@dataclass(slots=True)
class StubMachine:
    """The workers that run, the lines they printed, and callbacks for their ends."""

    workers: dict[str, Running] = field(default_factory=dict)
    samples: dict[str, Sample] = field(default_factory=dict)
    logs: dict[str, list[str]] = field(default_factory=dict)
    watchers: list[Callable[[Exit], None]] = field(default_factory=list)
    starts: itertools.count[int] = field(default_factory=itertools.count)
    away: str = ""  # why the machine does not answer; empty: it answers

    def end(self, name: str, reason: str) -> None:
        """End a worker, and report that to every open runtime."""
        del self.workers[name]
        self.samples.pop(name, None)
        for watcher in self.watchers:
            watcher(Exit(name, reason))


class StubAwayError(SteelyardError):
    """The stub machine does not answer, as the test demanded."""

    fault = Fault.MACHINE
    retry = True


class StubRuntime:
    """A runtime whose workers do what the test says."""

    kind = "stub"
    notes: ClassVar[list[str]] = []  # a stub honours every setting
    first_port = 21000  # each start gets the next port from here on

    def __init__(
        self, machine: StubMachine | None = None, clock: Callable[[], float] = lambda: 0.0
    ) -> None:
        self.machine = machine or StubMachine()
        self._clock = clock
        self._failures: list[str] = []
        self._exits: asyncio.Queue[Exit | None] = asyncio.Queue()

    def die(self, name: str, reason: str = "exit code 1") -> None:
        """Let a worker end by itself."""
        self.machine.end(name, reason)

    def set_sample(self, name: str, sample: Sample) -> None:
        """Set the worker's counters; `at` is set when they are read."""
        self.machine.samples[name] = sample

    def fail_next_start(self, reason: str) -> None:
        """Make the next start fail that is not already set to fail."""
        self._failures.append(reason)

    def write_log(self, name: str, line: str) -> None:
        """Let a worker print a line."""
        self.machine.logs[name].append(line)

    async def open(self) -> None:
        """Receive the ends of workers from now on."""
        self.machine.watchers.append(self._exits.put_nowait)

    async def ping(self) -> None:
        """Answer, unless `away` is set."""
        if self.machine.away:
            raise StubAwayError(self.machine.away)

    async def close(self) -> None:
        """Receive the ends of workers no longer."""
        self.machine.watchers.remove(self._exits.put_nowait)
        self._exits.put_nowait(None)

    async def start(self, name: str) -> Running:
        """Start a worker at once, unless the start is set to fail."""
        await self.ping()
        if name in self.machine.workers:
            raise StartError(f"worker {name} runs already")
        if self._failures:
            raise StartError(self._failures.pop(0))
        number = next(self.machine.starts)
        worker = Running(name, "127.0.0.1", self.first_port + number, handle=f"stub-{number}")
        self.machine.workers[name] = worker
        self.machine.samples[name] = Sample(at=0.0, cpu_seconds=0.0, memory=0)
        self.machine.logs.setdefault(name, []).append(f"{name} listens on port {worker.port}")
        return worker

    async def stop(self, name: str, grace: float) -> None:
        """End a worker at once: with exit code 0, or killed if there is no grace."""
        await self.ping()
        if name in self.machine.workers:
            self.machine.end(name, "exit code 0" if grace > 0 else "killed by SIGKILL")

    async def running(self) -> list[Running]:
        """The workers of the machine."""
        await self.ping()
        return list(self.machine.workers.values())

    async def sample(self) -> dict[str, Sample]:
        """The counters that the test set."""
        now = self._clock()
        return {name: replace(sample, at=now) for name, sample in self.machine.samples.items()}

    async def exits(self) -> AsyncIterator[Exit]:
        """Yield the end of each worker once, until the runtime is closed."""
        while (one := await self._exits.get()) is not None:
            yield one

    async def logs(self, name: str, lines: int) -> str:
        """The last lines that the worker printed."""
        if name not in self.machine.logs:
            raise UsageError(f"no log of a worker {name!r}")
        kept = self.machine.logs[name][-lines:] if lines > 0 else []
        return "".join(f"{line}\n" for line in kept)

    async def lines(
        self, name: str, last: int | None, shown: Shown, *, follow: bool
    ) -> AsyncGenerator[Line]:
        """Yield the lines that the worker printed; with `follow`, go on until it ends."""
        await self.logs(name, 0)
        printed = self.machine.logs[name]
        told = len(printed)
        for line in newest(filter(shown, printed[:]), last):
            yield Line(line, self._clock())
        while True:
            ended = name not in self.machine.workers
            for line in printed[told:]:
                told += 1
                if shown(line):
                    yield Line(line, self._clock())
            if ended or not follow:
                return
            await asyncio.sleep(_LOOK_EVERY)
