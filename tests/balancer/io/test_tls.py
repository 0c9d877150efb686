"""Tests of the TLS layer between a stream and its socket: bytes, ends and back-pressure."""

from __future__ import annotations

import contextlib
import random
import socket
import ssl
import threading
from collections.abc import Callable
from hashlib import sha256
from itertools import islice
from pathlib import Path

import pytest

from steelyard.balancer.io.loop import RECEIVE as BUFFER
from steelyard.balancer.io.tls import FLOOD, RECEIVE, RECORD
from tests.balancer.authority import trusting
from tests.balancer.key_updates import CIPHER, key_updates
from tests.balancer.secure import Hands, call, tls_stage
from tests.balancer.stage import GET, OK, PATIENCE, Conn, Stage, always, once, until

POST = b"POST / HTTP/1.1\r\nHost: a.org\r\nContent-Length: %d\r\n\r\n"
LARGE = 3 << 20
HELLO = b"hello from the other side"
UPGRADE = b"GET / HTTP/1.1\r\nHost: a.org\r\nConnection: upgrade\r\nUpgrade: chat\r\n\r\n"
SWITCH = b"HTTP/1.1 101 Switching Protocols\r\nConnection: upgrade\r\nUpgrade: chat\r\n\r\n"


def version(which: ssl.TLSVersion) -> ssl.SSLContext:
    context = trusting()
    context.minimum_version = context.maximum_version = which
    return context


def hands(scene: Stage, context: ssl.SSLContext | None = None) -> Hands:
    """A client that has completed its handshake."""
    client = Hands(scene.call(), context)
    client.push(client.shake())
    return client


@pytest.fixture(params=[ssl.TLSVersion.TLSv1_2, ssl.TLSVersion.TLSv1_3], ids=["1.2", "1.3"])
def context(request: pytest.FixtureRequest) -> ssl.SSLContext:
    return version(request.param)


def mirror(conn: Conn) -> None:
    """A worker that answers each request with the request's body."""
    while True:
        body = conn.request().body
        conn.send(b"HTTP/1.1 200 OK\r\nContent-Length: %d\r\n\r\n" % len(body) + body)


def test_requests_on_one_connection(tmp_path: Path, context: ssl.SSLContext) -> None:
    """Several requests with bodies pass on one connection, in both versions of TLS."""
    with tls_stage(tmp_path, mirror) as s:
        client = hands(s, context)
        for body in (b"one", b"two and a half"):
            client.push(client.sealed(POST % len(body) + body))
            assert client.read(body).startswith(b"HTTP/1.1 200 OK\r\n")
        client.wire.sock.close()


@pytest.mark.parametrize("form", ["x-forwarded", "forwarded"])
def test_the_worker_is_told(tmp_path: Path, form: str) -> None:
    """The worker is told that the scheme is https, in either form."""
    with tls_stage(tmp_path, always(), forwarded=form) as s, call(s) as client:
        client.send(GET)
        assert client.answer().status == 200
        fields = dict(s.worker.seen[0].fields)
        told = fields.get(b"X-Forwarded-Proto") or fields[b"Forwarded"]
        assert told in (b"https", b'for=127.0.0.1;host="a.org";proto=https')


def test_absolute_form(tmp_path: Path) -> None:
    """A target in absolute form may be https here (RFC 9112, 3.2.2), and becomes origin form."""
    with tls_stage(tmp_path, always()) as s, call(s) as client:
        client.send(b"GET https://b.org/x?y HTTP/1.1\r\nHost: a.org\r\n\r\n")
        assert client.answer().status == 200
        seen = s.worker.seen[0]
        assert (seen.start, seen.get(b"host")) == (b"GET /x?y HTTP/1.1", b"b.org")


def test_byte_by_byte(tmp_path: Path, context: ssl.SSLContext) -> None:
    """A handshake and a request that arrive byte by byte are read correctly."""
    with tls_stage(tmp_path, always()) as s:
        client = Hands(s.call(), context)
        client.wire.sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        client.push(client.shake(piece=1), piece=1)
        client.push(client.sealed(GET), piece=1)
        assert client.read(b"ok").startswith(b"HTTP/1.1 200")
        client.wire.sock.close()


def test_a_request_with_the_last_of_the_handshake(tmp_path: Path, context: ssl.SSLContext) -> None:
    """A request that arrives with the end of the handshake is read, though no event follows."""
    with tls_stage(tmp_path, always()) as s:
        client = Hands(s.call(), context)
        last = client.shake()
        if context.maximum_version is ssl.TLSVersion.TLSv1_3:  # in 1.2 the server ends it
            assert last
        client.push(last + client.sealed(GET))
        assert client.read(b"ok").startswith(b"HTTP/1.1 200")
        client.wire.sock.close()


def test_many_records_at_once(tmp_path: Path) -> None:
    """Pipelined requests, one per record or one in many records, are answered in order."""
    with tls_stage(tmp_path, mirror) as s:
        client = hands(s)
        asked = b"".join(client.sealed(POST % 2 + b"%02d" % number) for number in range(50))
        asked += b"".join(client.sealed(bytes([byte])) for byte in POST % 3 + b"end")
        client.push(asked)
        got = client.read(b"end")
        bodies = [part[-2:] for part in got.split(b"HTTP/1.1 200 OK")[1:-1]]
        assert bodies == [b"%02d" % number for number in range(50)]
        client.wire.sock.close()


def test_a_receive_always_fits() -> None:
    """The bytes of one receive, and the rest of an older record, fit into the loop's buffer."""
    assert RECEIVE + 2**14 + 256 + 5 <= BUFFER


@pytest.mark.parametrize("piece", [1500, 16 * 1024])
def test_large_bodies(tmp_path: Path, piece: int, context: ssl.SSLContext) -> None:
    """Large bodies pass both ways at once through small socket buffers unchanged."""
    data = random.Random(piece).randbytes(LARGE)

    def echo(conn: Conn) -> None:
        """A worker that sends the body back while the body is still coming."""
        conn.head()
        conn.send(b"HTTP/1.1 200 OK\r\nContent-Length: %d\r\n\r\n" % LARGE)
        left = LARGE
        while left:
            part = conn.data or conn.sock.recv(65536)
            assert part
            conn.data = b""
            conn.send(part)
            left -= len(part)

    with tls_stage(tmp_path, echo, send_buffer=8 * 1024) as s:
        client = Hands(s.call(receive_buffer=8 * 1024), context)
        client.push(client.shake() + client.sealed(POST % LARGE))
        client.read(b"\r\n\r\n")
        got = client.trade(data, piece, LARGE)
        assert sha256(got).digest() == sha256(data).digest()
        client.wire.sock.close()


def test_a_slow_reader_slows_the_worker(tmp_path: Path) -> None:
    """When the client does not read, the worker cannot send, and the balancer buffers little."""
    stuck = threading.Event()

    def flood(conn: Conn) -> None:
        conn.request()
        conn.send(b"HTTP/1.1 200 OK\r\nContent-Length: %d\r\n\r\n" % (LARGE * 20))
        conn.sock.settimeout(0.5)
        try:
            conn.send(b"x" * LARGE * 20)
        except TimeoutError:
            stuck.set()

    with tls_stage(tmp_path, flood, send_buffer=16 * 1024) as s:
        with call(s, receive_buffer=16 * 1024) as client:
            client.send(GET)
            client.head()
            assert stuck.wait(PATIENCE)
            (kept,) = s.plane.front.clients
            assert 0 < len(kept.pending) < 2 * BUFFER
        until(lambda: not s.plane.front.clients)


def test_what_is_logged_is_what_was_said(tmp_path: Path) -> None:
    """The size in the access log is the size of the answer's body, without that of TLS records."""
    log = tmp_path / "access.log"
    with tls_stage(tmp_path, mirror, access_log=str(log)) as s, call(s) as client:
        for size in (0, 1, 40_000, 200_000):
            client.send(POST % size + b"x" * size)
            assert len(client.answer().body) == size
        access_log = s.plane.front.access_log
        assert access_log is not None
        sizes: list[int] = []
        until(lambda: sizes.extend(note.size for note in access_log.take(9)) or len(sizes) == 4)
        assert sizes == [0, 1, 40_000, 200_000]


# Ends of connections


def test_a_half_close_alone(tmp_path: Path) -> None:
    """A close_notify of the client ends one direction: the answer and a close_notify follow."""
    go_on = threading.Event()

    def play(conn: Conn) -> None:
        conn.request()
        go_on.wait(PATIENCE)
        conn.send(OK)

    with tls_stage(tmp_path, play, half_close="answer") as s:
        client = hands(s)
        client.push(client.sealed(GET))
        until(lambda: bool(s.worker.seen))
        client.push(client.farewell())
        until(lambda: all(one.eof for one in s.plane.front.clients))
        go_on.set()
        assert client.read(b"ok").startswith(b"HTTP/1.1 200")
        assert client.ended()


def test_a_half_close_with_the_request(tmp_path: Path) -> None:
    """A close_notify in the request's segment is noticed, though no event of the socket follows."""
    with tls_stage(tmp_path, always(), half_close="answer") as s:
        client = hands(s)
        client.push(client.sealed(GET) + client.farewell())
        assert client.read(b"ok").startswith(b"HTTP/1.1 200")
        assert client.ended()
        until(lambda: not s.plane.front.clients)


@pytest.mark.parametrize("end", ["farewell", "fin"])
def test_an_end_within_the_body(tmp_path: Path, end: str) -> None:
    """A body that ends early, with or without close_notify, ends the exchange with the worker."""
    gone = threading.Event()

    def play(conn: Conn) -> None:
        conn.head()
        with contextlib.suppress(ConnectionError):
            conn.rest()
        gone.set()

    with tls_stage(tmp_path, play) as s:
        client = hands(s)
        client.push(client.sealed(POST % 10 + b"half"))
        until(lambda: s.inflight() == 1)
        if end == "farewell":
            client.push(client.farewell())
        else:
            client.wire.sock.shutdown(socket.SHUT_WR)
        assert gone.wait(PATIENCE)
        until(lambda: not s.plane.front.clients)


def test_an_answer_until_the_end(tmp_path: Path) -> None:
    """An answer to HTTP/1.0 that the close ends is complete only with a close_notify."""
    play = once(b"HTTP/1.0 200 OK\r\n\r\n" + b"x" * LARGE)
    with tls_stage(tmp_path, play, send_buffer=16 * 1024) as s, call(s) as client:
        client.send(b"GET / HTTP/1.0\r\n\r\n")
        assert client.answer().body == b"x" * LARGE  # raises without a close_notify


@pytest.mark.parametrize(
    "start", [b"HTTP/1.1 200 OK\r\nContent-Length: 99\r\n\r\n", b"HTTP/1.0 200 OK\r\n\r\n"]
)
@pytest.mark.parametrize("ask", [GET, b"GET / HTTP/1.0\r\n\r\n"])
def test_a_cut_answer_shows(tmp_path: Path, start: bytes, ask: bytes) -> None:
    """A cut answer is followed by no close_notify."""

    def play(conn: Conn) -> None:
        conn.request()
        conn.send(start + b"some")
        conn.until(b"never")

    with tls_stage(tmp_path, play, body_timeout=0.2) as s:
        client = hands(s)
        client.push(client.sealed(ask))
        assert not client.ended()


def test_an_idle_connection_ends_politely(tmp_path: Path) -> None:
    """An idle connection is closed with a close_notify when its time is over."""
    with tls_stage(tmp_path, always(), idle_timeout=0.2) as s:
        client = hands(s)
        client.push(client.sealed(GET))
        client.read(b"ok")
        assert client.ended()


def test_a_stop_ends_idle_connections_politely(tmp_path: Path) -> None:
    """A balancer that stops closes idle connections with a close_notify."""
    with tls_stage(tmp_path, always()) as s:
        client = hands(s)
        client.push(client.sealed(GET))
        client.read(b"ok")
        s.plane.stop()
        assert client.ended()


def test_connection_close(tmp_path: Path) -> None:
    """With Connection: close the whole answer arrives, even if the client goes on sending."""
    ask = GET.replace(b"\r\n\r\n", b"\r\nConnection: close\r\n\r\n")
    with tls_stage(tmp_path, always()) as s:
        client = hands(s)
        client.push(client.sealed(ask) + client.sealed(b"x" * 100_000))
        assert client.read(b"ok").startswith(b"HTTP/1.1 200")
        assert client.ended()


@pytest.mark.parametrize(
    "spoil",
    [
        lambda record: record[:-1] + bytes([record[-1] ^ 1]),
        lambda record: b"\x17\x03\x03\xff\xff" + record,
        lambda record: b"GET / HTTP/1.1\r\n\r\n",
    ],
    ids=["flipped", "too long", "plain"],
)
def test_garbage_behind_the_handshake(tmp_path: Path, spoil: Callable[[bytes], bytes]) -> None:
    """Garbage after the handshake closes the connection, and no byte of it reaches a worker."""
    with tls_stage(tmp_path, always()) as s:
        client = hands(s)
        client.push(spoil(client.sealed(GET)))
        with pytest.raises((ssl.SSLError, ConnectionError, EOFError)):
            client.read(b"ok")
        until(lambda: not s.plane.front.clients)
        assert s.worker.bytes == b""


def test_a_hard_stop_shows(tmp_path: Path) -> None:
    """An answer that the end of the balancer cuts is followed by no close_notify."""

    def play(conn: Conn) -> None:
        conn.request()
        conn.send(b"HTTP/1.0 200 OK\r\n\r\nsome")
        conn.until(b"never")

    with tls_stage(tmp_path, play) as s:
        client = hands(s)
        client.push(client.sealed(b"GET / HTTP/1.0\r\n\r\n"))
        client.read(b"some")
        s.plane.stop()
        s.plane.stop()
        assert not client.ended()


def test_new_keys(tmp_path: Path) -> None:
    """A client may update its keys; a client that does so endlessly without reading is cut off."""
    context = trusting()
    context.keylog_filename = str(tmp_path / "keys")
    with tls_stage(tmp_path, always(), send_buffer=4096) as s:
        client = Hands(s.call(receive_buffer=4096), context)
        client.push(client.shake())
        assert client.tls.cipher()[0] == CIPHER
        updates = key_updates(tmp_path / "keys")
        client.push(next(updates))
        (kept,) = s.plane.front.clients
        most = 0
        with contextlib.suppress(ConnectionError):
            for update in islice(updates, 20_000):
                client.push(update)
                most = max(most, len(kept.pending))
        assert 0 < most <= FLOOD + RECORD
        until(lambda: not s.plane.front.clients)


# Tunnels


def test_a_tunnel(tmp_path: Path, context: ssl.SSLContext) -> None:
    """Bytes after the switch of protocols pass both ways, also bytes that the client sent early."""

    def play(conn: Conn) -> None:
        conn.request()
        conn.send(SWITCH + HELLO)
        conn.send(conn.exactly(5))

    with tls_stage(tmp_path, play) as s:
        client = hands(s, context)
        client.push(client.sealed(UPGRADE) + client.sealed(b"early"))
        assert client.read(b"early").endswith(HELLO + b"early")
        assert client.ended()


def test_half_closes_pass_through_a_tunnel(tmp_path: Path) -> None:
    """In a tunnel a close_notify becomes a FIN to the worker, and a FIN becomes a close_notify."""
    heard: list[bytes] = []

    def play(conn: Conn) -> None:
        conn.request()
        conn.send(SWITCH)
        heard.append(conn.rest())
        conn.send(b"x" * LARGE + b"end")

    with tls_stage(tmp_path, play, send_buffer=8 * 1024) as s:
        client = hands(s)
        client.push(client.sealed(UPGRADE))
        client.read(b"\r\n\r\n")
        client.push(client.sealed(b"last words") + client.farewell())
        assert client.read(b"end") == b"x" * LARGE + b"end"
        assert client.ended()
        assert heard == [b"last words"]
        until(lambda: not s.plane.front.clients)


def test_the_worker_ends_first(tmp_path: Path) -> None:
    """A client may go on sending after the close_notify that follows the worker's FIN."""
    heard: list[bytes] = []

    def play(conn: Conn) -> None:
        conn.request()
        conn.send(SWITCH + b"bye")
        conn.sock.shutdown(socket.SHUT_WR)
        heard.append(conn.rest())

    with tls_stage(tmp_path, play) as s:
        client = hands(s)
        client.push(client.sealed(UPGRADE))
        client.read(b"bye")
        assert client.ended()
        client.push(client.sealed(b"one more thing"))
        client.push(client.farewell())
        until(lambda: bool(heard))
        assert heard == [b"one more thing"]


def test_a_broken_tunnel_shows(tmp_path: Path) -> None:
    """When the worker resets a tunnel, no close_notify is sent to the client."""

    def play(conn: Conn) -> None:
        conn.request()
        conn.send(SWITCH)
        conn.exactly(2)
        conn.reset()

    with tls_stage(tmp_path, play) as s:
        client = hands(s)
        client.push(client.sealed(UPGRADE))
        client.read(b"\r\n\r\n")
        client.push(client.sealed(b"go"))
        assert not client.ended()
