"""The prober: finds out whether a worker can serve, by a connection or by an HTTP request."""

from __future__ import annotations

import asyncio
import socket
import time
from collections.abc import Callable
from dataclasses import dataclass

from steelyard.config.settings import Probe, Runtime
from steelyard.core.events import Probed
from steelyard.peer_owner import peer_owner
from steelyard.runtime.scan import may_own

USER_AGENT = "steelyard-probe"  # an application can tell probes from requests by it
BOOT_INTERVAL = 0.1  # seconds; a booting worker is probed often, to serve as soon as it can
# On a published port the engine's proxy accepts, and closes the connection as soon as it finds that
# no process listens in the container. This takes about a millisecond, and longer on a busy machine.
SETTLE = 0.25  # seconds


@dataclass(frozen=True, slots=True)
class Target:
    """A worker that is probed."""

    name: str
    host: str
    port: int
    leader: int | None = None  # the pid of a worker that is a process of this machine


@dataclass(slots=True)
class Place:
    """Where a worker is: its host name, and the address that the name was last resolved to.

    The engine resolves the names of containers. While it is away the last address is used, because
    a worker that would answer must not fail its probes.
    """

    host: str
    address: str = ""

    async def connect(self, port: int) -> tuple[asyncio.StreamReader, asyncio.StreamWriter]:
        try:
            reader, writer = await asyncio.open_connection(self.host, port)
        except socket.gaierror:
            if not self.address:
                raise
            return await asyncio.open_connection(self.address, port)
        self.address = writer.get_extra_info("peername")[0]
        return reader, writer


class Prober:
    """Probes each worker from `watch` on, until `alive` returns False for it."""

    def __init__(
        self,
        probe: Probe,
        tell: Callable[[Probed], None],
        alive: Callable[[str], bool],
        booting: Callable[[str], bool],
        settle: float = 0.0,
    ) -> None:
        """`settle` is how long a connection must stay open to count as accepted, in seconds."""
        self._probe = probe
        self._settle = settle
        self._tell = tell
        self._alive = alive
        self._booting = booting
        self._tasks: dict[str, asyncio.Task[None]] = {}

    def watch(self, target: Target) -> None:
        """Begin to probe a worker, unless it is being probed already."""
        if target.name not in self._tasks:
            self._tasks[target.name] = asyncio.create_task(self._watch(target))

    async def close(self) -> None:
        tasks = list(self._tasks.values())
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)

    async def _watch(self, target: Target) -> None:
        place = Place(target.host)
        try:
            while self._alive(target.name):
                probe = self._probe
                probed = await ask(target, probe.path, probe.timeout, self._settle, place)
                if self._alive(target.name):
                    self._tell(probed)
                booting = self._booting(target.name)
                await asyncio.sleep(BOOT_INTERVAL if booting else self._probe.interval)
        finally:
            del self._tasks[target.name]


def settle_time(runtime: Runtime) -> float:
    """How long a connection must stay open: longer than 0 if a proxy of the engine accepts it."""
    proxied = runtime.kind in {"docker", "swarm"} and runtime.reach == "loopback"
    return SETTLE if proxied else 0.0


async def ask(
    target: Target,
    path: str | None,
    timeout: float,
    settle: float = 0.0,
    place: Place | None = None,
) -> Probed:
    """Probe a worker once; `place` remembers the address at which earlier probes found it."""
    place = place or Place(target.host)
    began = time.perf_counter()
    seconds = None  # the response time, without the time for which a connection is then watched
    try:
        async with asyncio.timeout(timeout):
            reader, writer = await place.connect(target.port)
            try:
                problem = await _strange(writer, target)
                if problem:
                    pass  # no byte is sent to a program of another user
                elif path is None:
                    seconds = time.perf_counter() - began
                    problem = await _stay(reader, target, settle)
                else:
                    problem = await _get(reader, writer, target, path)
            finally:
                writer.transport.abort()
    except TimeoutError:
        problem = f"no answer within {timeout:g} s"
    except ValueError:  # the first line of the answer is longer than the reader's limit
        problem = f"GET {path}: no HTTP answer"
    except OSError as error:
        problem = f"port {target.port}: {error.strerror or error}"
    seconds = time.perf_counter() - began if seconds is None else seconds
    return Probed(target.name, ok=not problem, seconds=seconds, problem=problem)


async def _strange(writer: asyncio.StreamWriter, target: Target) -> str:
    """What is wrong if another user listens on the worker's port; empty if none does.

    Another user may have bound the port before the worker did, or while it did not listen.
    """
    if target.leader is None:
        return ""
    user = peer_owner(writer.get_extra_info("socket"))
    if user is None or await asyncio.to_thread(may_own, target.leader, user):
        return ""
    return f"port {target.port}: another user (uid {user}) listens there"


async def _stay(reader: asyncio.StreamReader, target: Target, settle: float) -> str:
    """What is wrong if the connection is closed within `settle` seconds; empty if it stays open.

    A server waits for a request, or sends a greeting; one that closes at once cannot serve.
    """
    if settle <= 0:
        return ""
    try:
        async with asyncio.timeout(settle):
            greeting = await reader.read(1)
    except TimeoutError:
        return ""
    closed = f"port {target.port}: the connection was closed at once, no process listens behind it"
    return "" if greeting else closed


async def _get(
    reader: asyncio.StreamReader, writer: asyncio.StreamWriter, target: Target, path: str
) -> str:
    writer.write(
        f"GET {path} HTTP/1.1\r\nHost: {target.host}:{target.port}\r\n"
        f"User-Agent: {USER_AGENT}\r\nConnection: close\r\n\r\n".encode()
    )
    return judge(await reader.readline(), path)


def judge(line: bytes, path: str) -> str:
    """What is wrong with the status line of an answer; empty if it is good."""
    words = line.split()
    if len(words) < 2 or not words[0].startswith(b"HTTP/1.") or not words[1].isdigit():
        return f"GET {path}: no HTTP answer"
    status = int(words[1])
    return "" if 200 <= status < 400 else f"GET {path}: status {status}"
