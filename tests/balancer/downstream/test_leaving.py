"""Tests of clients that close, or only half-close, their connection (docs/decisions, 9)."""

from __future__ import annotations

import socket
import threading
from math import inf

import pytest

from steelyard.balancer.downstream.client import Client
from tests.balancer.stage import GET, OK, PATIENCE, Conn, Stage, stage, until

POST = b"POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 10\r\n\r\n123"


class Patient:
    """A worker that answers when `go` is set, and notes whether its connection ends before."""

    def __init__(self) -> None:
        self.go = threading.Event()
        self.cancelled = threading.Event()

    def play(self, conn: Conn) -> None:
        conn.request()
        conn.sock.settimeout(0.01)
        while not self.go.is_set():
            try:
                if not conn.sock.recv(1):
                    self.cancelled.set()
                    return
            except TimeoutError:
                continue
        conn.send(OK)


@pytest.mark.parametrize("half_close", ["ask", "answer", "abort"])
def test_a_reset_cancels(half_close: str) -> None:
    """A reset by the client cancels the request, so that no worker computes in vain."""
    worker = Patient()
    with stage(worker.play, half_close=half_close) as s, s.call() as client:
        client.send(GET)
        until(lambda: len(s.worker.seen) == 1)
        client.reset()
        assert worker.cancelled.wait(PATIENCE)
        until(lambda: s.inflight() == 0)
        assert s.total("failures") == 0


@pytest.mark.parametrize("half_close", ["ask", "answer", "abort"])
def test_an_end_within_the_request_cancels(half_close: str) -> None:
    """A request whose client ends its side within the body is cancelled."""
    with stage(Patient().play, half_close=half_close) as s, s.call() as client:
        client.send(POST)
        until(lambda: b"123" in s.worker.bytes)
        client.sock.shutdown(socket.SHUT_WR)
        assert client.ended()
        until(lambda: s.inflight() == 0)
        assert s.worker.seen == []


@pytest.mark.parametrize("half_close", ["ask", "abort"])
def test_a_close_cancels(half_close: str) -> None:
    """A client that closes while it waits is detected, by its reset or by its FIN."""
    worker = Patient()
    with stage(worker.play, half_close=half_close) as s, s.call() as client:
        client.send(GET)
        until(lambda: len(s.worker.seen) == 1)
        client.sock.close()
        assert worker.cancelled.wait(PATIENCE)
        until(lambda: not s.plane.front.clients)
        assert s.total("failures") == 0


def test_a_half_close_that_is_asked() -> None:
    """A client that half-closes is sent one 100 (Continue) as a probe, and gets its answer."""
    worker = Patient()
    with stage(worker.play) as s, s.call() as client:
        client.send(GET)
        client.sock.shutdown(socket.SHUT_WR)
        assert client.answer().status == 100
        worker.go.set()
        assert client.answer().body == b"ok"
        assert client.ended()


def test_a_half_close_with_a_quick_answer() -> None:
    """A client that half-closes is not probed when its answer comes at once."""
    worker = Patient()
    worker.go.set()
    with stage(worker.play) as s, s.call() as client:
        client.send(GET)
        client.sock.shutdown(socket.SHUT_WR)
        assert client.answer().status == 200
        assert client.ended()


def test_old_clients_are_not_asked() -> None:
    """An HTTP/1.0 client is not probed, since HTTP/1.0 has no interim answers."""
    worker = Patient()
    with stage(worker.play) as s, s.call() as client:
        client.send(b"GET / HTTP/1.0\r\n\r\n")
        client.sock.shutdown(socket.SHUT_WR)
        waiting = _only_client(s)
        until(lambda: waiting.deadline < inf)
        until(lambda: waiting.eof and waiting.deadline == inf)
        worker.go.set()
        assert client.answer().status == 200


def test_a_half_close_that_counts_as_gone() -> None:
    """With half_close="abort" a FIN from the client cancels the request."""
    worker = Patient()
    with stage(worker.play, half_close="abort") as s, s.call() as client:
        client.send(GET)
        until(lambda: len(s.worker.seen) == 1)
        client.sock.shutdown(socket.SHUT_WR)
        assert client.ended()
        assert worker.cancelled.wait(PATIENCE)


def test_a_half_close_that_is_answered() -> None:
    """With half_close="answer" the client is not probed, however long the answer takes."""
    worker = Patient()
    with stage(worker.play, half_close="answer") as s, s.call() as client:
        client.send(GET)
        client.sock.shutdown(socket.SHUT_WR)
        waiting = _only_client(s)
        until(lambda: waiting.eof)
        assert waiting.deadline == inf
        worker.go.set()
        assert client.answer().status == 200


def test_a_half_close_within_the_answer() -> None:
    """A client that half-closes within its answer is not probed: the answer itself is a probe."""
    go = threading.Event()

    def halves(conn: Conn) -> None:
        conn.request()
        conn.send(OK[:-1])
        assert go.wait(PATIENCE)
        conn.send(OK[-1:])

    with stage(halves) as s, s.call() as client:
        client.send(GET)
        client.until(b"\r\n\r\no")
        client.sock.shutdown(socket.SHUT_WR)
        waiting = _only_client(s)
        until(lambda: waiting.eof)
        assert waiting.deadline == inf
        go.set()
        assert client.rest() == b"k"


def _only_client(s: Stage) -> Client:
    until(lambda: len(s.plane.front.clients) == 1)
    (client,) = s.plane.front.clients
    return client
