"""Tests of the minimum rate of bodies."""

from __future__ import annotations

import contextlib
import threading
import time
from collections.abc import Callable, Iterator
from math import inf

import pytest

from steelyard.balancer.downstream import http1, minimum_rate
from steelyard.balancer.downstream.minimum_rate import MinimumRate
from tests.balancer.stage import GET, OK, PATIENCE, Conn, always, stage, until


def test_windows() -> None:
    """A window is judged when it is over, and a window with enough bytes is followed by another."""
    it = MinimumRate(100)
    assert it.bound(7.0) == 7.0
    it.begin(0.0)
    end = minimum_rate.PERIOD
    assert it.bound(inf) == end
    it.moved(int(100 * end) - 1)
    assert not it.kept(end)
    it.moved(1)
    assert not it.kept(end - 1)
    assert it.kept(end)
    assert it.bound(inf) == 2 * end
    assert not it.kept(2 * end)


@pytest.fixture(autouse=True)
def _short(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(minimum_rate, "PERIOD", 0.3)


class Known(MinimumRate):
    """A minimum rate that counts the windows that began and the windows that were judged.

    A window in which no byte moved is not judged but begins anew: the thread of a test may be held
    up for longer than a window, and would be taken for a slow client.
    """

    begun = 0
    judged = 0

    def begin(self, now: float) -> None:
        super().begin(now)
        self.begun += 1

    def kept(self, now: float) -> bool:
        if not self._bytes:
            self.begin(now)
            return True
        kept = super().kept(now)
        self.judged += kept
        return kept


@pytest.fixture
def paces(monkeypatch: pytest.MonkeyPatch) -> list[Known]:
    """The minimum rates of all clients, in the order in which the clients came."""
    made: list[Known] = []

    def make(rate: int) -> Known:
        made.append(Known(rate))
        return made[-1]

    monkeypatch.setattr(http1, "MinimumRate", make)
    return made


@contextlib.contextmanager
def trickling(send: Callable[[bytes], object]) -> Iterator[None]:
    """Call `send` with a byte every 20 ms, until it fails or the block ends."""
    done = threading.Event()

    def trickle() -> None:
        with contextlib.suppress(OSError):
            while not done.wait(0.02):
                send(b"x")

    thread = threading.Thread(target=trickle)
    thread.start()
    try:
        yield
    finally:
        done.set()
        thread.join()


POST = b"POST / HTTP/1.1\r\nHost: a\r\nContent-Length: %d\r\n\r\n"


def test_a_trickling_body_is_refused() -> None:
    """A body that comes byte by byte is too slow and gets a 408, though it never pauses."""
    with stage(always(), body_rate=10_000) as s, s.call() as client:
        client.send(POST % 100_000)
        with trickling(client.send):
            assert client.answer().status == 408
        until(lambda: s.inflight() == 0)


def test_a_body_at_its_pace(paces: list[Known]) -> None:
    """A body of a byte per window, which is fast enough, passes over several windows."""
    left = 1000
    with stage(always(), body_rate=1) as s, s.call() as client:
        client.send(POST % left)
        until(lambda: bool(paces))
        seen = 0
        while paces[0].judged < 3:
            # A byte that came before its window began, while the balancer connected to the worker,
            # is not counted.
            until(lambda seen=seen: paces[0].begun > seen)
            seen = paces[0].begun
            client.send(b"x")
            left -= 1
        client.send(b"x" * left)
        assert client.head().status == 200


def test_a_pause_is_still_one() -> None:
    """The time limit of pauses applies within a window, too."""
    with stage(always(), body_rate=1, body_timeout=0.1) as s, s.call() as client:
        client.send(POST % 100 + b"x" * 50)
        assert client.answer().status == 408


def test_a_client_that_reads_too_slowly() -> None:
    """A client that reads its answer too slowly is cut off."""

    def flood(conn: Conn) -> None:
        conn.request()
        conn.send(b"HTTP/1.1 200 OK\r\nContent-Length: 100000000\r\n\r\n")
        with contextlib.suppress(ConnectionError):
            while True:
                conn.send(b"x" * 65536)

    with stage(flood, body_rate=10**9, send_buffer=4096) as s, s.call(4096) as client:
        client.send(GET)
        until(lambda: s.inflight() == 1)
        with trickling(lambda _: client.sock.recv(100)):
            until(lambda: not s.plane.front.clients)


def test_the_rest_of_an_answer_has_its_own_window(
    paces: list[Known], monkeypatch: pytest.MonkeyPatch
) -> None:
    """The rest of an answer, which the client reads after the worker is done, gets a new window."""
    monkeypatch.setattr(minimum_rate, "PERIOD", PATIENCE)
    size = 50_000
    answer = b"HTTP/1.1 200 OK\r\nContent-Length: %d\r\n\r\n" % size + b"x" * size
    for ending in (b"", b"Connection: close\r\n"):
        with stage(always(answer), body_rate=10_000, send_buffer=4096) as s, s.call(4096) as client:
            client.send(POST % 20 + b"x" * 10)
            until(lambda s=s: b"xxx" in s.worker.bytes)
            client.send(b"x" * 10)
            assert client.answer().status == 200
            paces[-1]._end = 0.0  # the window of the body is long over
            client.send(GET[:-2] + ending + b"\r\n")
            until(lambda s=s: len(s.worker.seen) == 2 and s.inflight() == 0)
            assert paces[-1]._end > time.monotonic()
            assert len(client.answer().body) == size


def test_a_slow_worker_is_not_the_clients_fault() -> None:
    """While the worker does not read, or computes, the client needs no minimum rate."""
    size = 32 * 2**20
    late = threading.Event()

    def lazy(conn: Conn) -> None:
        assert not late.wait(1)
        conn.head()
        left = size - len(conn.data)
        while left:
            left -= len(conn.sock.recv(2**20))
        assert not late.wait(0.5)
        conn.send(OK)

    with stage(lazy, body_rate=1) as s, s.call() as client:
        client.sock.settimeout(PATIENCE)
        client.send(POST % size + b"x" * size)
        assert client.answer().status == 200


def test_idle_clients_keep_no_pace() -> None:
    """Between requests only the idle timeout applies, and no minimum rate."""
    with stage(always(), body_rate=1, idle_timeout=0.2) as s, s.call() as client:
        client.send(POST % 500 + b"x" * 500)
        assert client.answer().status == 200
        assert client.ended()
