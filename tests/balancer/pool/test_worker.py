"""A worker's idle connections."""

from __future__ import annotations

import socket
from collections.abc import Iterator
from typing import Any

import pytest

from steelyard.balancer.io.loop import Loop
from steelyard.balancer.pool.counters import Bell
from steelyard.balancer.pool.upstream import Upstream
from steelyard.balancer.pool.worker import Worker


class Pool:
    """A worker with idle connections, in a loop that does not run: nobody has seen a close yet."""

    def __init__(self) -> None:
        self.server = socket.create_server(("127.0.0.1", 0))
        self.loop = Loop(sweep_every=1)
        self.worker = Worker("w", socket.AF_INET, self.server.getsockname(), Bell())
        self.theirs: list[socket.socket] = []

    def connect(self) -> Upstream:
        exchange: Any = None  # nothing is exchanged here
        upstream = Upstream(self.loop, self.worker, exchange)
        self.theirs.append(self.server.accept()[0])
        upstream.give_back(until=1e9)
        return upstream

    def close(self) -> None:
        self.loop.close()
        for sock in (*self.theirs, self.server):
            sock.close()


@pytest.fixture
def pool() -> Iterator[Pool]:
    made = Pool()
    yield made
    made.close()


def test_the_last_one_is_taken_first(pool: Pool) -> None:
    """The connection that was idle for the shortest time is the likeliest to be alive."""
    first, second = pool.connect(), pool.connect()
    assert pool.worker.take(careful=False) is second
    assert pool.worker.take(careful=True) is first
    assert pool.worker.take(careful=False) is None


def test_a_careful_taker_passes_over_what_is_closed(pool: Pool) -> None:
    """Whoever cannot repeat a request looks before it trusts."""
    alive, closed, reset, talkative = (pool.connect() for _ in range(4))
    _, two, three, four = pool.theirs
    two.close()
    three.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, b"\1\0\0\0\0\0\0\0")
    three.close()
    four.send(b"HTTP/1.1 408 Request Timeout\r\n\r\n")
    talkative.sock.setblocking(True)
    talkative.sock.recv(1, socket.MSG_PEEK)  # it has arrived
    talkative.sock.setblocking(False)
    pool.loop.now += 1.0
    assert pool.worker.take(careful=True) is alive
    assert [u.open for u in (closed, reset, talkative)] == [False] * 3


def test_a_careless_taker_takes_what_comes(pool: Pool) -> None:
    """Whoever can repeat a request saves the look."""
    closed = pool.connect()
    pool.theirs[0].close()
    assert pool.worker.take(careful=False) is closed


def test_what_was_busy_a_moment_ago_is_trusted(pool: Pool) -> None:
    """A look at each of a busy worker's connections would cost as much as sending."""
    pool.loop.now += 1e6
    closed = pool.connect()
    pool.theirs[0].close()
    pool.loop.now += 0.01
    assert pool.worker.take(careful=True) is closed


def test_leaving_closes_all(pool: Pool) -> None:
    """A worker out of the ring keeps nothing."""
    upstreams = [pool.connect() for _ in range(3)]
    pool.worker.serving = True
    pool.worker.leave()
    assert not pool.worker.serving
    assert not any(upstream.open for upstream in upstreams)


def test_repr(pool: Pool) -> None:
    """A worker in a log line says who and where it is."""
    assert repr(pool.worker) == f"<Worker w at 127.0.0.1:{pool.worker.address[1]}>"
