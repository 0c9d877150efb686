"""Tests of a client's connection: bad requests, limits, time limits and back-pressure."""

from __future__ import annotations

import contextlib
import socket
import threading

import pytest

from tests.balancer.http.test_framing import test_bad_chunks as chunk_table
from tests.balancer.http.test_grammar import BAD
from tests.balancer.stage import GET, OK, PATIENCE, Conn, always, once, stage, unacknowledged, until

BAD_CHUNKS: list[bytes] = next(
    mark.args[1] for mark in chunk_table.pytestmark if mark.name == "parametrize"
)


def test_bad_requests_never_reach_a_worker() -> None:
    """Each bad head is answered and its connection closed, and no worker is called."""
    with stage(always()) as s:
        for status, head in filter(lambda bad: bad[1], BAD.values()):
            with s.call() as client:
                client.send(head + b"\r\n\r\n")
                answer = client.answer()
                assert answer.status == status, head
                assert answer.get(b"connection") == b"close"
                assert client.ended()
        assert s.worker.accepted == 0


def test_what_follows_a_bad_request_never_reaches_a_worker() -> None:
    """A request that follows a bad request on the same connection is ignored."""
    with stage(always()) as s, s.call() as client:
        client.send(b"GET / HTTP/1.1\r\nHost: a\r\nContent-Length: 1, 1\r\n\r\n" + GET)
        assert client.answer().status == 400
        assert client.ended()
        assert s.worker.accepted == 0


def test_bare_lf_is_refused_before_the_head_is_complete() -> None:
    """A head with bare LFs, which never becomes complete, is refused at once."""
    with stage(always()) as s:
        assert s.get(b"GET / HTTP/1.1\nHost: a\n\n").status == 400


@pytest.mark.parametrize("raw", BAD_CHUNKS)
def test_bad_chunks_are_refused(raw: bytes) -> None:
    """A bad chunked body is refused with 400, and the worker never gets a whole request."""
    head = b"POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n"
    with stage(always()) as s, s.call() as client:
        client.send(head)
        client.send(raw)
        assert client.answer().status == 400
        assert client.ended()
        until(lambda: s.inflight() == 0)
        assert s.worker.seen == []
        assert s.total("failures") == 0


def test_empty_lines_before_a_request() -> None:
    """Empty lines before a request, which old clients send after a body, are skipped."""
    with stage(always()) as s, s.call() as client:
        client.send(b"\r\n")
        client.send(b"\r")
        client.send(b"\n" + GET + b"\r\n\r\n" + GET)
        assert client.answer().status == 200
        assert client.answer().status == 200


def test_a_request_byte_by_byte() -> None:
    """A request is read correctly when it arrives byte by byte."""
    request = b"POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n"
    request += b"5\r\nhello\r\n0\r\n\r\n"
    with stage(always()) as s, s.call() as client:
        client.sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        for code in request:
            client.send(bytes([code]))
        assert client.answer().status == 200
        assert s.worker.seen[0].body == b"hello"


def test_an_answer_byte_by_byte() -> None:
    """An answer is read correctly when it arrives byte by byte."""

    def drip(conn: Conn) -> None:
        conn.sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        while True:
            conn.request()
            for code in b"HTTP/1.1 100 Continue\r\n\r\n" + OK:
                conn.send(bytes([code]))

    with stage(drip) as s, s.call() as client:
        client.send(GET + GET)
        assert [client.answer().status for _ in range(4)] == [100, 200, 100, 200]


# Limits


def test_head_too_large() -> None:
    """A head over the limit is refused with 431, complete or not."""
    with stage(always(), head=1000) as s:
        for end in (b"\r\n\r\n", b""):
            request = b"GET / HTTP/1.1\r\nHost: a\r\nX: " + b"x" * 1000 + end
            assert s.get(request).status == 431
        assert s.worker.accepted == 0


def test_too_many_fields() -> None:
    """A head with too many fields is refused with 431."""
    with stage(always(), fields=10) as s:
        head = b"GET / HTTP/1.1\r\nHost: a\r\n"
        assert s.get(head + b"A: b\r\n" * 9 + b"\r\n").status == 200
        assert s.get(head + b"A: b\r\n" * 10 + b"\r\n").status == 431


def test_declared_body_too_large() -> None:
    """A Content-Length over the limit is refused before a worker is called."""
    with stage(always(), body=10) as s, s.call() as client:
        client.send(b"POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 11\r\n\r\n")
        assert client.answer().status == 413
        assert client.ended()
        assert s.worker.accepted == 0
        ten = b"POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 10\r\n\r\n0123456789"
        assert s.get(ten).status == 200


def test_chunked_body_too_large() -> None:
    """A chunked body is refused once it exceeds the limit, and the worker's request is cut."""
    with stage(always(), body=10) as s, s.call() as client:
        client.send(b"POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n")
        client.send(b"8\r\n01234567\r\n")
        until(lambda: b"01234567" in s.worker.bytes)
        client.send(b"3\r\nabc\r\n0\r\n\r\n")
        assert client.answer().status == 413
        assert client.ended()
        until(lambda: s.inflight() == 0)
        assert s.worker.seen == []


# Time limits


def test_slow_head() -> None:
    """A head that is not complete in time is answered with 408."""
    with stage(always(), head_timeout=0.1) as s, s.call() as client:
        client.send(b"GET / HTTP/1.1\r\nHost: a\r\n")
        assert client.answer().status == 408
        assert client.ended()


def test_trickling_head() -> None:
    """The time limit of a head does not start again with each byte."""
    with stage(always(), head_timeout=0.2) as s, s.call() as client:
        done = threading.Event()

        def trickle() -> None:
            client.send(b"GET / HTTP/1.1\r\nX: ")
            while not done.wait(0.02):
                try:
                    client.send(b"x")
                except OSError:
                    return

        thread = threading.Thread(target=trickle)
        thread.start()
        assert client.answer().status == 408
        done.set()
        thread.join()


def test_silent_client() -> None:
    """The connection of a client that sends nothing is closed without an answer."""
    with stage(always(), head_timeout=0.1) as s, s.call() as client:
        assert client.ended()


def test_idle_client() -> None:
    """A persistent connection is closed when it is idle for too long."""
    with stage(always(), idle_timeout=0.1) as s, s.call() as client:
        client.send(GET)
        assert client.answer().status == 200
        assert client.ended()


def test_pause_within_a_request_body() -> None:
    """A body that stops coming is answered with 408, and the exchange with the worker ends."""
    with stage(always(), body_timeout=0.2) as s, s.call() as client:
        client.send(b"POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 100\r\n\r\nabc")
        assert client.answer().status == 408
        assert client.ended()
        until(lambda: s.inflight() == 0)


def test_pause_within_an_answer() -> None:
    """An answer that stops coming is cut, and counts as a failure of the worker."""

    def stall(conn: Conn) -> None:
        conn.request()
        conn.send(b"HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\nabc")
        assert conn.ended()

    with stage(stall, body_timeout=0.2) as s, s.call() as client:
        client.send(GET)
        client.until(b"abc")
        assert client.ended()
        until(lambda: s.total("failures") == 1)


def test_client_that_does_not_read() -> None:
    """A client that reads nothing of its answer for too long is cut off."""

    def flood(conn: Conn) -> None:
        conn.request()
        conn.send(b"HTTP/1.1 200 OK\r\nContent-Length: 100000000\r\n\r\n")
        try:
            while True:
                conn.send(b"x" * 65536)
        except ConnectionError:
            return

    with stage(flood, body_timeout=0.3) as s, s.call() as client:
        client.send(GET)
        until(lambda: s.inflight() == 1)
        until(lambda: s.inflight() == 0)
        until(lambda: not s.plane.front.clients)
        assert s.total("failures") == 0


def test_answer_that_does_not_begin() -> None:
    """When a worker does not answer in time, the client gets a 504 without a retry."""

    def mute(conn: Conn) -> None:
        conn.request()
        assert conn.ended()

    with stage(mute, mute, answer_timeout=0.2) as s, s.call() as client:
        client.send(GET)
        assert client.answer().status == 504
        assert sum(len(worker.seen) for worker in s.workers) == 1
        until(lambda: s.total("failures") == 1)


def test_half_a_head_does_not_buy_time() -> None:
    """The time limit of an answer applies until its head is complete."""

    def half(conn: Conn) -> None:
        conn.request()
        conn.send(b"HTTP/1.1 200 OK\r\n")
        assert conn.ended()

    with stage(half, answer_timeout=0.2) as s:
        assert s.get().status == 504


def test_worker_that_does_not_accept() -> None:
    """A connection that is not accepted in time is a failed try, and another worker is tried."""
    full = socket.socket()
    full.bind(("127.0.0.1", 0))
    full.listen(0)
    filler = socket.create_connection(full.getsockname())  # the backlog is full now
    with stage(always(), connect_timeout=0.2) as s:
        stuck = s.worker.entry().model_copy(update={"name": "x", "port": full.getsockname()[1]})
        s.queue(stuck, s.worker.entry())
        for _ in range(4):
            assert s.get().status == 200
        s.queue(stuck)
        assert s.get().status == 502
    filler.close()
    full.close()


# Back-pressure


def test_slow_reader_stops_the_worker() -> None:
    """When the client does not read, the worker cannot send: the balancer buffers little."""
    size = 64 * 2**20
    sent = 0
    stalled = threading.Event()

    def flood(conn: Conn) -> None:
        nonlocal sent
        conn.request()
        conn.send(b"HTTP/1.1 200 OK\r\nContent-Length: %d\r\n\r\n" % size)
        conn.sock.settimeout(0.5)
        piece = b"x" * 65536
        while sent < size:
            try:
                sent += conn.sock.send(piece[: size - sent])
            except TimeoutError:
                stalled.set()
                conn.sock.settimeout(10)

    with stage(flood) as s, s.call() as client:
        client.send(GET)
        assert stalled.wait(PATIENCE)
        assert sent < size
        client.head()
        got = len(client.data)
        client.data = b""
        while got < size:
            got += len(client.sock.recv(2**20))
        assert got == size


def test_slow_worker_stops_the_client() -> None:
    """When the worker does not read, the client cannot send: the balancer buffers little."""
    size = 64 * 2**20
    go = threading.Event()

    def lazy(conn: Conn) -> None:
        conn.head()
        assert go.wait(PATIENCE)
        left = size - len(conn.data)
        while left:
            left -= len(conn.sock.recv(2**20))
        conn.send(OK)

    with stage(lazy) as s, s.call() as client:
        client.send(b"POST / HTTP/1.1\r\nHost: a\r\nContent-Length: %d\r\n\r\n" % size)
        client.sock.settimeout(0.5)
        piece, left = b"x" * 2**20, size
        with contextlib.suppress(TimeoutError):
            while left:
                left -= client.sock.send(piece[:left])
        assert left
        client.sock.settimeout(10)
        go.set()
        while left:
            left -= client.sock.send(piece[:left])
        assert client.answer().status == 200


def test_pipelined_bytes_are_bounded() -> None:
    """While a request is being answered, the balancer reads only a few of the pipelined bytes."""
    go = threading.Event()

    def late(conn: Conn) -> None:
        conn.request()
        assert go.wait(PATIENCE)
        conn.send(OK)
        always()(conn)

    piece = b"10000\r\n" + b"x" * 0x10000 + b"\r\n"
    with stage(late) as s, s.call() as client:
        client.send(GET)
        until(lambda: len(s.worker.seen) == 1)
        client.send(b"POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n")
        client.sock.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, 65536)
        left, pieces = memoryview(b""), 0
        client.sock.setblocking(False)
        while pieces < 100:
            left, pieces = left or memoryview(piece), pieces + (not left)
            try:
                left = left[client.sock.send(left) :]
            except BlockingIOError:
                waiting = unacknowledged(client.sock)
                s.go_round(5)
                if unacknowledged(client.sock) == waiting:
                    break  # the loop had its rounds, and read nothing
        assert pieces < 100
        client.sock.settimeout(PATIENCE)
        go.set()
        client.send(bytes(left) + b"0\r\n\r\n")
        assert [client.answer().status, client.answer().status] == [200, 200]
        assert len(s.worker.seen[1].body) == 0x10000 * pieces


def test_a_slow_reader_buys_no_time_by_sending() -> None:
    """A client that does not read its answer is cut off in time, even if it sends meanwhile."""
    large = b"HTTP/1.1 200 OK\r\nContent-Length: 60000\r\n\r\n" + b"x" * 60_000
    limits = {"body_timeout": 1.0, "head_timeout": 3600.0}
    with (
        stage(always(large), send_buffer=4096, **limits) as s,
        s.call(receive_buffer=4096) as client,
    ):
        client.sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        client.send(GET)
        until(lambda: s.total("requests") == 1 and s.inflight() == 0)

        def cut_off() -> bool:
            with contextlib.suppress(ConnectionError):
                client.send(b"x")
            return not s.plane.front.clients

        until(cut_off)


def test_answer_of_a_worker_that_is_gone_waits_for_a_slow_client() -> None:
    """The reset connection of a worker that has answered is parked until the client has read."""
    body = b"x" * 100_000

    def play(conn: Conn) -> None:
        conn.head()
        conn.send(b"HTTP/1.1 200 OK\r\nContent-Length: %d\r\n\r\n" % len(body) + body[:60_000])
        until(lambda: any(client.pending for client in s.plane.front.clients))
        conn.send(body[60_000:])  # the balancer does not read these bytes yet
        until(lambda: unacknowledged(conn.sock) == 0)
        conn.sock.recv(1, socket.MSG_PEEK)  # a close with bytes unread causes a reset

    with stage(play, send_buffer=4096) as s, s.call(receive_buffer=4096) as client:
        client.send(b"PUT / HTTP/1.1\r\nHost: a\r\nContent-Length: 9\r\n\r\n123")
        until(lambda: b"123" in s.worker.bytes)
        client.send(b"456")
        until(lambda: any(getattr(h, "parked", False) for h in s.handlers()))
        answer = client.answer()
        assert answer.body == body


def test_connection_close_is_honoured() -> None:
    """Connection: close closes the connection after the answer; pipelined requests are ignored."""
    with stage(always()) as s, s.call() as client:
        client.send(b"GET / HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n" + GET)
        assert client.answer().get(b"connection") == b"close"
        assert client.ended()
        assert len(s.worker.seen) == 1


def test_worker_that_closes_does_not_close_the_client() -> None:
    """Connection: close in a worker's answer does not close the client's connection."""
    closing = b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\nConnection: close\r\n\r\nok"
    with stage(once(closing)) as s, s.call() as client:
        for number in range(1, 5):
            client.send(GET)
            answer = client.answer()
            assert answer.get(b"connection") is None
            assert s.worker.accepted == number
