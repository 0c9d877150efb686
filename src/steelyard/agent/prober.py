"""The prober: asks a worker whether it can serve, by connecting to it or by an HTTP request."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable
from dataclasses import dataclass

from steelyard.config.settings import Probe, Runtime
from steelyard.core.events import Probed

BOOT_INTERVAL = 0.1  # a booting worker is asked often: it should serve as soon as it can
# On a published port the engine's proxy accepts, and hangs up as soon as it finds that nobody
# listens in the container: within a millisecond or so, on a busy machine some more.
SETTLE = 0.25


@dataclass(frozen=True, slots=True)
class Target:
    """A worker that is asked."""

    name: str
    host: str
    port: int


class Prober:
    """Probes each worker it is told to watch until `alive` says that it has left."""

    def __init__(
        self,
        probe: Probe,
        tell: Callable[[Probed], None],
        alive: Callable[[str], bool],
        booting: Callable[[str], bool],
        settle: float = 0.0,
    ) -> None:
        """`settle`: how long a connection must stay open to count as accepted."""
        self._probe = probe
        self._settle = settle
        self._tell = tell
        self._alive = alive
        self._booting = booting
        self._tasks: dict[str, asyncio.Task[None]] = {}

    def watch(self, target: Target) -> None:
        """Begin to probe a worker; one that is watched already stays so."""
        if target.name not in self._tasks:
            self._tasks[target.name] = asyncio.create_task(self._watch(target))

    async def close(self) -> None:
        tasks = list(self._tasks.values())
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)

    async def _watch(self, target: Target) -> None:
        try:
            while self._alive(target.name):
                probed = await ask(target, self._probe.path, self._probe.timeout, self._settle)
                if self._alive(target.name):
                    self._tell(probed)
                booting = self._booting(target.name)
                await asyncio.sleep(BOOT_INTERVAL if booting else self._probe.interval)
        finally:
            del self._tasks[target.name]


def settle_time(runtime: Runtime) -> float:
    """How long a connection must stay open, by who accepts it."""
    proxied = runtime.kind in {"docker", "swarm"} and runtime.reach == "loopback"
    return SETTLE if proxied else 0.0


async def ask(target: Target, path: str | None, timeout: float, settle: float = 0.0) -> Probed:
    """One probe."""
    began = time.perf_counter()
    seconds = None  # of the answer; what a connection is then watched for is not the worker's
    try:
        async with asyncio.timeout(timeout):
            reader, writer = await asyncio.open_connection(target.host, target.port)
            try:
                if path is None:
                    seconds = time.perf_counter() - began
                    problem = await _stay(reader, target, settle)
                else:
                    problem = await _get(reader, writer, target, path)
            finally:
                writer.transport.abort()
    except TimeoutError:
        problem = f"no answer within {timeout:g} s"
    except ValueError:  # its first line does not end within the reader's limit
        problem = f"GET {path}: no HTTP answer"
    except OSError as error:
        problem = f"port {target.port}: {error.strerror or error}"
    seconds = time.perf_counter() - began if seconds is None else seconds
    return Probed(target.name, ok=not problem, seconds=seconds, problem=problem)


async def _stay(reader: asyncio.StreamReader, target: Target, settle: float) -> str:
    """A server waits for a request, or greets; one that hangs up is none."""
    if settle <= 0:
        return ""
    try:
        async with asyncio.timeout(settle):
            greeting = await reader.read(1)
    except TimeoutError:
        return ""
    return "" if greeting else f"port {target.port}: closed at once, nobody listens behind it"


async def _get(
    reader: asyncio.StreamReader, writer: asyncio.StreamWriter, target: Target, path: str
) -> str:
    writer.write(
        f"GET {path} HTTP/1.1\r\nHost: {target.host}:{target.port}\r\n"
        "User-Agent: steelyard-probe\r\nConnection: close\r\n\r\n".encode()
    )
    return judge(await reader.readline(), path)


def judge(line: bytes, path: str) -> str:
    """What is wrong with the answer's status line; empty when nothing is."""
    words = line.split()
    if len(words) < 2 or not words[0].startswith(b"HTTP/1.") or not words[1].isdigit():
        return f"GET {path}: no HTTP answer"
    status = int(words[1])
    return "" if 200 <= status < 400 else f"GET {path}: status {status}"
