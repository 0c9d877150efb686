"""Probes, against real servers."""

from __future__ import annotations

import asyncio
import os
import socket
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest

from steelyard.agent.prober import Place, Prober, Target, ask, judge
from steelyard.config.settings import Probe
from tests.stranger import NOBODY, stranger


@asynccontextmanager
async def server(answer: bytes | None) -> AsyncIterator[Target]:
    """A server that answers every connection with these bytes, or stays silent if None."""
    silent = asyncio.Event()

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        if answer is None:
            await silent.wait()
        else:
            await reader.readline()
            writer.write(answer)
            await writer.drain()
        writer.close()

    async with await asyncio.start_server(serve, "127.0.0.1", 0) as listening:
        yield Target("w", "127.0.0.1", listening.sockets[0].getsockname()[1])
        silent.set()


@pytest.mark.parametrize(
    ("answer", "path", "ok", "problem"),
    [
        (None, None, True, ""),  # without a path it is enough that the server accepts
        (b"HTTP/1.1 200 OK\r\n\r\n", "/health", True, ""),
        (b"HTTP/1.1 302 Found\r\n\r\n", "/health", True, ""),
        (b"HTTP/1.0 503 Busy\r\n\r\n", "/health", False, "GET /health: status 503"),
        (b"hello\r\n", "/health", False, "GET /health: no HTTP answer"),
        (b"", "/health", False, "GET /health: no HTTP answer"),
        (b"x" * 200_000, "/health", False, "GET /health: no HTTP answer"),
    ],
)
async def test_a_probe_tells_whether_a_worker_can_serve(answer, path, ok, problem):
    """A worker is ready if it accepts on its port, or by its answer to a GET."""
    async with server(answer) as target:
        probed = await ask(target, path, timeout=5)
    assert (probed.ok, probed.problem) == (ok, problem)


async def test_a_closed_port_is_not_ready():
    """The problem of a closed port is the error of the kernel."""
    async with server(b"") as target:
        pass
    probed = await ask(target, None, timeout=5)
    assert not probed.ok
    assert "refused" in probed.problem.lower() or "connect" in probed.problem.lower()


async def test_a_port_that_is_closed_at_once_has_nobody_behind_it():
    """A probe fails if a proxy accepts for a container in which no process listens yet."""

    async def hang_up(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        writer.close()

    async with await asyncio.start_server(hang_up, "127.0.0.1", 0) as listening:
        target = Target("w", "127.0.0.1", listening.sockets[0].getsockname()[1])
        probed = await ask(target, None, timeout=30, settle=30)
    assert not probed.ok
    assert "no process listens behind it" in probed.problem


async def test_a_port_that_stays_open_is_ready():
    """The response time leaves out the time for which the connection is watched."""
    async with server(None) as target:
        began = time.monotonic()
        probed = await ask(target, None, timeout=60, settle=1.0)
        whole = time.monotonic() - began
    assert probed.ok
    assert probed.seconds < whole - 0.99  # the event loop may wake a task a clock tick early


async def test_a_silent_worker_fails_its_probe():
    """The probe of a worker that accepts but does not answer in time fails."""
    async with server(None) as target:
        probed = await ask(target, "/health", timeout=0.05)
    assert (probed.ok, probed.problem) == (False, "no answer within 0.05 s")


async def test_a_worker_is_probed_until_it_has_left():
    """Probes of a worker repeat, and end when it has left."""
    told: asyncio.Queue[object] = asyncio.Queue()
    alive = {"w"}
    prober = Prober(Probe(interval=0.01), told.put_nowait, alive.__contains__, lambda _: False)
    async with server(None) as target:
        prober.watch(target)
        prober.watch(target)  # has no effect: the worker is watched already
        for _ in range(3):
            await told.get()
        task = prober._tasks["w"]
        alive.clear()
        await task
    assert prober._tasks == {}


def test_a_status_line_is_judged_strictly():
    """A probe succeeds only with HTTP/1 and a status from 200 to 399."""
    assert judge(b"HTTP/1.1 204 No Content\r\n", "/") == ""
    assert judge(b"HTTP/1.1 abc\r\n", "/") == "GET /: no HTTP answer"
    assert judge(b"HTTP/2 200\r\n", "/") == "GET /: no HTTP answer"


async def test_a_name_that_cannot_be_resolved_any_more_leads_where_it_did(monkeypatch):
    """The last address is used while the engine, which resolves names of containers, is away."""
    place = Place("localhost")
    async with server(None) as target:
        assert (await ask(target, None, 5, place=place)).ok

        def refuse(*_: object, **__: object) -> None:
            raise socket.gaierror(socket.EAI_AGAIN, "no name server")

        monkeypatch.setattr(socket, "getaddrinfo", refuse)
        assert (await ask(target, None, 5, place=place)).ok
        assert not (await ask(target, None, 5, place=Place("localhost"))).ok


@pytest.mark.needs("root")
@pytest.mark.parametrize("path", [None, "/health"])
async def test_a_port_that_another_user_has_is_not_the_workers(tmp_path: Path, path: str) -> None:
    """Another user, who can read the port in the worker's command line, may bind it first."""
    with stranger(tmp_path / "log") as other:
        probed = await ask(Target("w", "127.0.0.1", other.port, os.getpid()), path, timeout=5)
    assert not probed.ok
    assert probed.problem == f"port {other.port}: another user (uid {NOBODY}) listens there"
    assert not any("GET" in line for line in other.lines)


@pytest.mark.needs("root")
async def test_a_worker_that_gave_up_its_user_is_ready(tmp_path: Path) -> None:
    """A worker that changed its user is ready, because it owns the listening socket."""
    with stranger(tmp_path / "log") as worker:
        probed = await ask(Target("w", "127.0.0.1", worker.port, worker.pid), None, timeout=5)
    assert probed.ok, probed.problem
