"""The prober: asks a worker whether it can serve, by connecting to it or by an HTTP request."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable
from dataclasses import dataclass

from steelyard.config.settings import Probe
from steelyard.core.events import Probed

BOOT_INTERVAL = 0.1  # a booting worker is asked often: it should serve as soon as it can


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
    ) -> None:
        self._probe = probe
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
                probed = await ask(target, self._probe.path, self._probe.timeout)
                if self._alive(target.name):
                    self._tell(probed)
                booting = self._booting(target.name)
                await asyncio.sleep(BOOT_INTERVAL if booting else self._probe.interval)
        finally:
            del self._tasks[target.name]


async def ask(target: Target, path: str | None, timeout: float) -> Probed:
    """One probe."""
    began = time.perf_counter()
    problem = ""
    try:
        async with asyncio.timeout(timeout):
            problem = await _connect_and_ask(target, path)
    except TimeoutError:
        problem = f"no answer within {timeout:g} s"
    except ValueError:  # its first line does not end within the reader's limit
        problem = f"GET {path}: no HTTP answer"
    except OSError as error:
        problem = f"port {target.port}: {error.strerror or error}"
    seconds = time.perf_counter() - began
    return Probed(target.name, ok=not problem, seconds=seconds, problem=problem)


async def _connect_and_ask(target: Target, path: str | None) -> str:
    reader, writer = await asyncio.open_connection(target.host, target.port)
    try:
        if path is None:
            return ""
        host = f"{target.host}:{target.port}"
        writer.write(
            f"GET {path} HTTP/1.1\r\nHost: {host}\r\nUser-Agent: steelyard-probe\r\n"
            "Connection: close\r\n\r\n".encode()
        )
        return judge(await reader.readline(), path)
    finally:
        writer.transport.abort()


def judge(line: bytes, path: str) -> str:
    """What is wrong with the answer's status line; empty when nothing is."""
    words = line.split()
    if len(words) < 2 or not words[0].startswith(b"HTTP/1.") or not words[1].isdigit():
        return f"GET {path}: no HTTP answer"
    status = int(words[1])
    return "" if 200 <= status < 400 else f"GET {path}: status {status}"
