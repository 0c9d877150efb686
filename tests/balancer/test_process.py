"""Tests of a real balancer process: signals, memory and the last report."""

from __future__ import annotations

import asyncio
import contextlib
import json
import signal
import socket
import subprocess
import sys
import threading
from collections.abc import Iterator
from pathlib import Path

import psutil
import pytest

from steelyard.balancer.process import fixed_queue
from steelyard.errors import UsageError
from tests.balancer.control.test_agent_link import TOKEN, FakeAgent, queue
from tests.balancer.stage import GET, OK, PATIENCE, Conn, Play, ScriptedWorker, Wire, always, until

PROGRAM = """
import logging, sys
from pathlib import Path
from steelyard.balancer.control.agent_link import AgentSource
from steelyard.balancer.process import fixed_queue, run_balancer
from steelyard.config.settings import Gateway

logging.basicConfig(level="INFO")
fd, gateway, kind, *rest = sys.argv[1:]
source = AgentSource((rest[0],), Path(rest[1])) if kind == "agent" else fixed_queue(rest)
run_balancer(Gateway.model_validate_json(gateway), [int(fd)], "b/1", source)
"""


class Balancer:
    """A child process that inherits a listening socket, as it does from the supervisor."""

    def __init__(self, *source: str, **gateway: object) -> None:
        self.listener = socket.create_server(("127.0.0.1", 0))
        self.port: int = self.listener.getsockname()[1]
        fd = self.listener.fileno()
        self.process = subprocess.Popen(
            [sys.executable, "-c", PROGRAM, str(fd), json.dumps(gateway), *source],
            pass_fds=[fd],
            stderr=subprocess.PIPE,
            text=True,
        )

    def call(self) -> Wire:
        return Wire(socket.create_connection(("127.0.0.1", self.port), timeout=PATIENCE))

    def memory(self) -> int:
        return int(psutil.Process(self.process.pid).memory_info().rss)

    def says(self, text: str) -> None:
        """Wait for a line with this text in the log."""
        assert self.process.stderr is not None
        assert any(text in line for line in self.process.stderr), f"it never said {text!r}"

    def log(self) -> str:
        """The rest of the log of a process that ends."""
        _, text = self.process.communicate(timeout=PATIENCE)
        return text


@contextlib.contextmanager
def balancer(*source: str, **gateway: object) -> Iterator[Balancer]:
    """A balancer that serves; there is no time limit, since machines differ in speed."""
    made = Balancer(*source, **gateway)
    try:
        made.says("serving")
        yield made
    finally:
        made.process.kill()
        made.process.wait()
        assert made.process.stderr is not None
        made.process.stderr.close()
        made.listener.close()


@contextlib.contextmanager
def worker(play: Play) -> Iterator[ScriptedWorker]:
    made = ScriptedWorker(play)
    try:
        yield made
    finally:
        made.close()


def fixed(made: ScriptedWorker) -> tuple[str, str]:
    return "fixed", f"127.0.0.1:{made.port}"


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_a_signal_lets_exchanges_finish(number: signal.Signals) -> None:
    """The open exchange is finished, the process exits with 0, and the port stays open."""
    go = threading.Event()

    def slow(conn: Conn) -> None:
        conn.request()
        assert go.wait(PATIENCE)
        conn.send(OK)

    with worker(slow) as w, balancer(*fixed(w)) as b, b.call() as client:
        client.send(GET)
        until(lambda: len(w.seen) == 1)
        b.process.send_signal(number)
        b.says("stopping: 1 clients have 30 s")
        go.set()
        answer = client.answer()
        assert (answer.body, answer.get(b"connection")) == (b"ok", b"close")
        client.sock.close()
        assert b.process.wait(PATIENCE) == 0
        with b.call():
            pass  # the listening socket still belongs to the test, and takes connections


def test_a_second_signal_ends_at_once() -> None:
    """A second signal cuts open exchanges, and the process exits with 0."""

    def never(conn: Conn) -> None:
        conn.request()
        assert conn.ended()

    with worker(never) as w, balancer(*fixed(w), drain=1000) as b, b.call() as client:
        client.send(GET)
        until(lambda: len(w.seen) == 1)
        b.process.send_signal(signal.SIGTERM)
        b.says("stopping")
        b.process.send_signal(signal.SIGINT)
        assert b.process.wait(PATIENCE) == 0
        assert client.ended()
        assert "1 clients are cut off by the stop" in b.log()


def test_idle_process_ends_at_once() -> None:
    """Without clients a process that is stopped exits at once."""
    with worker(always()) as w, balancer(*fixed(w), drain=1000) as b:
        with b.call() as client:
            client.send(GET)
            assert client.answer().status == 200
        b.process.send_signal(signal.SIGTERM)
        assert b.process.wait(PATIENCE) == 0


def test_memory_is_flat_for_a_long_download() -> None:
    """100 MiB pass through in either framing, and the process grows by less than 4 MiB."""
    size = 100 * 2**20
    piece = b"x" * 2**20

    def flood(conn: Conn) -> None:
        while True:
            chunked = conn.request().start.startswith(b"GET /chunked")
            framing = b"Transfer-Encoding: chunked" if chunked else b"Content-Length: %d" % size
            conn.send(b"HTTP/1.1 200 OK\r\n" + framing + b"\r\n\r\n")
            for _ in range(size // len(piece)):
                conn.send(b"100000\r\n" + piece + b"\r\n" if chunked else piece)
            if chunked:
                conn.send(b"0\r\n\r\n")

    with worker(flood) as w, balancer(*fixed(w)) as b:
        for target in (b"/length", b"/chunked"):
            with b.call() as reader:
                before = b.memory()
                reader.send(b"GET " + target + b" HTTP/1.0\r\n\r\n")
                got, most = 0, 0
                while data := reader.sock.recv(2**20):
                    got += len(data)
                    most = max(most, b.memory())
                assert got > size
                assert most - before < 4 * 2**20


def test_memory_is_flat_for_a_long_upload() -> None:
    """While 50 MiB go to a slow worker, the process grows by less than 4 MiB."""
    size = 50 * 2**20

    def sink(conn: Conn) -> None:
        conn.head()
        left = size - len(conn.data)
        while left:
            left -= len(conn.sock.recv(16384))
        conn.send(OK)

    with worker(sink) as w, balancer(*fixed(w)) as b, b.call() as client:
        client.send(b"POST / HTTP/1.1\r\nHost: a\r\nContent-Length: %d\r\n\r\n" % size)
        piece = b"x" * 2**20
        until(lambda: w.accepted == 1)
        before, most = b.memory(), 0
        for _ in range(size // len(piece)):
            client.send(piece)
            most = max(most, b.memory())
        assert client.answer().status == 200
        assert most - before < 4 * 2**20


async def test_the_last_report(tmp_path: Path) -> None:
    """A process that is stopped sends a last report to the agent."""
    token = tmp_path / "token"
    (tmp_path / "token").write_text(TOKEN)
    agent = FakeAgent()
    await agent.open()
    with (
        worker(always()) as w,
        balancer("agent", f"ws://127.0.0.1:{agent.port}", str(token)) as b,
    ):
        link = await agent.linked()
        await link.send(queue(2, w.entry()))
        await agent.report(version=2)
        with b.call() as client:
            client.send(GET)
            assert (await asyncio.to_thread(client.answer)).status == 200
        b.process.send_signal(signal.SIGTERM)
        requests = 0
        while not (report := await agent.report(version=2)).farewell:
            requests += report.workers["w"].requests
        assert requests + report.workers["w"].requests == 1
        assert await asyncio.to_thread(b.process.wait, PATIENCE) == 0
    await agent.close()


@pytest.mark.parametrize("weight", ["0", "-1", "nan", "inf", "much"])
def test_a_weight_must_be_a_number_above_nothing(weight: str) -> None:
    """A worker whose weight is not a positive number is refused."""
    with pytest.raises(UsageError, match="is not a worker"):
        fixed_queue([f"127.0.0.1:9000={weight}"])


def test_fixed_queue() -> None:
    """Addresses with and without a weight become a queue."""
    first, second = fixed_queue(["127.0.0.1:9000", "[::1]:9001=2.5"]).workers
    assert (first.name, first.host, first.port, first.weight) == (
        "127.0.0.1:9000",
        "127.0.0.1",
        9000,
        1,
    )
    assert (second.host, second.port, second.weight) == ("::1", 9001, 2.5)


@pytest.mark.parametrize("text", ["", "x", "a:0", "a:b", "a:1=x", "a:1=-1", "a:70000", "a:1=nan"])
def test_fixed_queue_refuses_what_is_no_worker(text: str) -> None:
    """A malformed worker is refused with a message that gives the right form."""
    with pytest.raises(UsageError, match="HOST:PORT"):
        fixed_queue([text])
