"""Upgrades: who gets one, and what passes through it, with raw sockets."""

from __future__ import annotations

import contextlib
import socket
import threading
from collections.abc import Iterator
from math import inf

import pytest

from steelyard.balancer import upstream
from steelyard.balancer.loop import RECEIVE
from steelyard.balancer.tunnel import Side
from steelyard.balancer.worker import Worker
from tests.balancer.stage import (
    GET,
    OK,
    PATIENCE,
    Conn,
    Message,
    Play,
    Stage,
    Wire,
    always,
    once,
    stage,
    until,
)

SWITCH = b"HTTP/1.1 101 Switching Protocols\r\nConnection: upgrade\r\nUpgrade: x\r\n\r\n"


def asking(*lines: bytes) -> bytes:
    return b"\r\n".join((b"GET / HTTP/1.1", b"Host: a", *lines, b"", b""))


ASK = asking(b"Connection: upgrade", b"Upgrade: x")


def switching(then: Play) -> Play:
    """A worker that agrees to every upgrade."""

    def play(conn: Conn) -> None:
        conn.request()
        conn.send(SWITCH)
        then(conn)

    return play


def echo(conn: Conn) -> None:
    while conn.more():
        conn.send(conn.data)
        conn.data = b""


@contextlib.contextmanager
def tunnel(then: Play, **limits: object) -> Iterator[tuple[Stage, Wire]]:
    """A stage, and a client whose upgrade was agreed to."""
    with stage(switching(then), **limits) as s, s.call() as client:
        client.send(ASK)
        assert client.head().status == 101
        yield s, client


def _sides(s: Stage) -> list[Side]:
    return [handler for handler in s.handlers() if isinstance(handler, Side)]


# Who gets one


def seen(*lines: bytes) -> Message:
    """What a worker sees of a request with these lines."""
    with stage(always()) as s:
        assert s.get(asking(*lines)).status == 200
        return s.worker.seen[0]


@pytest.mark.parametrize(
    ("offer", "forwarded"),
    [
        (b"websocket", b"websocket"),
        (b"TLS/1.0, x", b"TLS/1.0, x"),
        (b"h2c, x", b"x"),
        (b"x,,H2C/14 , y", b"x, y"),
    ],
)
def test_an_offer_is_forwarded(offer: bytes, forwarded: bytes) -> None:
    """With exactly the two fields that make it one, and without HTTP/2."""
    got = seen(b"Connection: Upgrade, X-Odd", b"X-Odd: 1", b"Upgrade: " + offer)
    assert got.get(b"upgrade") == forwarded
    assert got.get(b"connection") == b"upgrade"
    assert got.get(b"x-odd") is None


@pytest.mark.parametrize(
    "lines",
    [
        (b"Upgrade: x",),
        (b"Connection: upgrade",),
        (b"Connection: close", b"Upgrade: x"),
        (b"Connection: upgrade", b"Upgrade:"),
        (b"Connection: Upgrade, HTTP2-Settings", b"Upgrade: h2c", b"HTTP2-Settings: AAMAAABkAAQ"),
        (b"HTTP2-Settings: AAMAAABkAAQ",),
    ],
)
def test_what_is_no_offer_is_not_forwarded(lines: tuple[bytes, ...]) -> None:
    """One field without the other means nothing, and h2c is never passed on."""
    got = seen(*lines)
    for name in (b"connection", b"upgrade", b"http2-settings"):
        assert got.get(name) is None


def test_no_offer_beside_a_body() -> None:
    """Where the new protocol begins must not be in doubt; the request itself is served."""
    for framing in (b"Content-Length: 2\r\n\r\nok", b"Transfer-Encoding: chunked\r\n\r\n0\r\n\r\n"):
        with stage(always()) as s:
            ask = b"POST / HTTP/1.1\r\nHost: a\r\nConnection: upgrade\r\nUpgrade: x\r\n"
            assert s.get(ask + framing).status == 200
            assert s.worker.seen[0].get(b"upgrade") is None


def test_no_offer_in_http10() -> None:
    """RFC 9110, 7.8: a server ignores one in HTTP/1.0."""
    with stage(always()) as s:
        ask = b"GET / HTTP/1.0\r\nConnection: upgrade\r\nUpgrade: x\r\n\r\n"
        assert s.get(ask).status == 200
        assert s.worker.seen[0].get(b"upgrade") is None


@pytest.mark.parametrize("offer", [b"x y", b"x/1/2", b'"x"', b"x;q=1"])
def test_a_bad_offer_is_refused(offer: bytes) -> None:
    """What is no list of protocols is refused."""
    with stage(always()) as s:
        assert s.get(asking(b"Connection: upgrade", b"Upgrade: " + offer)).status == 400
        assert s.worker.accepted == 0


@pytest.mark.parametrize(
    ("request_", "answer"),
    [
        (GET, SWITCH),
        (ASK, b"HTTP/1.1 101 Switching Protocols\r\n\r\n"),
        (ASK, SWITCH.replace(b"Upgrade: x", b"Upgrade: y")),
        (ASK, SWITCH.replace(b"Upgrade: x", b"Upgrade: x, y")),
        (ASK, SWITCH.replace(b"Upgrade: x", b"Upgrade: h2c")),
    ],
)
def test_a_switch_that_was_not_asked_for(request_: bytes, answer: bytes) -> None:
    """To another protocol than one of those offered: the worker's fault."""
    with stage(once(answer)) as s:
        assert s.get(request_).status == 502
        until(lambda: s.total("failures") == 1)


def test_any_other_answer_is_an_ordinary_one() -> None:
    """The worker may ignore the offer; the connection stays one of HTTP."""
    with stage(always()) as s, s.call() as client:
        client.send(ASK + GET)
        assert [client.answer().body for _ in range(2)] == [b"ok", b"ok"]
        assert s.worker.accepted == 1


def test_upgrade_required_says_to_what() -> None:
    """A 426 names the protocol (RFC 9110, 15.5.22); other answers do not."""
    needed = OK.replace(b"200 OK", b"426 Upgrade Required\r\nUpgrade: x")
    with stage(always(needed)) as s:
        assert s.get().get(b"upgrade") == b"x"
    with stage(always(needed.replace(b"426", b"200"))) as s:
        assert s.get().get(b"upgrade") is None


# What passes


def test_the_head_of_a_switch() -> None:
    """The client learns what was agreed, after any other interim answer, and no length."""
    hints = b"HTTP/1.1 103 Early Hints\r\nA: b\r\n\r\n"
    switch = SWITCH.replace(b"Upgrade: x", b"Upgrade: X\r\nA: c\r\nContent-Length: 5")
    with stage(once(hints + switch + b"hello")) as s, s.call() as client:
        client.send(ASK)
        assert client.head().get(b"a") == b"b"
        head = client.head()
        assert head.start == b"HTTP/1.1 101 Switching Protocols"
        assert head.fields[:-1] == [
            (b"A", b"c"),
            (b"Connection", b"upgrade"),
            (b"Upgrade", b"X"),
            (b"Via", b"1.1 steelyard"),
        ]
        client.sock.shutdown(socket.SHUT_WR)
        assert client.rest() == b"hello"


def test_bytes_pass_both_ways() -> None:
    """Whatever they are, HTTP or not."""
    with tunnel(echo) as (s, client):
        for data in (b"\0\xff\r\n\r\n", GET, b"x" * 300_000):
            client.send(data)
            assert client.exactly(len(data)) == data
        assert s.inflight() == 1
        client.sock.shutdown(socket.SHUT_WR)
        assert client.rest() == b""
        until(lambda: s.inflight() == 0)
        assert (s.total("requests"), s.total("failures")) == (1, 0)
        assert s.total("sent") > 300_000
        assert s.total("received") > 300_000


def test_early_bytes_belong_to_the_tunnel() -> None:
    """What the client sent before it knew goes to the worker, even when it was all."""

    def whole(conn: Conn) -> None:
        conn.send(b"<" + conn.rest() + b">")

    with stage(switching(whole)) as s, s.call() as client:
        client.send(ASK + b"early")
        client.sock.shutdown(socket.SHUT_WR)
        assert client.head().status == 101
        assert client.rest() == b"<early>"


def test_half_close_of_the_client() -> None:
    """The worker learns that no more comes, and can still answer."""

    def sum_up(conn: Conn) -> None:
        got = conn.rest()
        conn.send(b"%d" % len(got))

    with tunnel(sum_up) as (_, client):
        client.send(b"x" * 1_000_000)
        client.sock.shutdown(socket.SHUT_WR)
        assert client.rest() == b"1000000"


def test_half_close_of_the_worker() -> None:
    """The client learns that no more comes, and can still send."""
    got = []

    def farewell(conn: Conn) -> None:
        conn.send(b"that is all")
        conn.sock.shutdown(socket.SHUT_WR)
        got.append(conn.rest())

    with tunnel(farewell) as (s, client):
        assert client.rest() == b"that is all"
        assert s.inflight() == 1
        client.send(b"y" * 500_000)
        client.sock.shutdown(socket.SHUT_WR)
        until(lambda: got == [b"y" * 500_000])
        until(lambda: not s.plane.clients)


def test_an_end_behind_bytes_that_a_slow_reader_has_to_take() -> None:
    """What was sent before the end of a side arrives, however slowly it is taken."""
    size = 3_000_000

    def flood(conn: Conn) -> None:
        assert conn.rest() == b""
        conn.send(b"x" * size)

    with (
        stage(switching(flood), send_buffer=4096) as s,
        s.call(receive_buffer=4096) as client,
    ):
        client.send(ASK)
        assert client.head().status == 101
        client.sock.shutdown(socket.SHUT_WR)
        assert len(client.rest()) == size


def test_an_end_behind_early_bytes(monkeypatch: pytest.MonkeyPatch) -> None:
    """A client that has sent all and heard all is put aside while its worker reads on."""
    early = b"x" * 60_000
    go = threading.Event()

    def slow(conn: Conn) -> None:
        conn.head()
        conn.send(SWITCH)
        conn.sock.shutdown(socket.SHUT_WR)
        assert go.wait(PATIENCE)
        assert conn.rest() == early

    def small(worker: Worker) -> socket.socket:
        sock = connect(worker)
        sock.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, 4096)
        return sock

    connect = upstream._connect
    monkeypatch.setattr(upstream, "_connect", small)
    with stage(slow) as s, s.call() as client:
        s.worker._sock.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
        with s.frozen():
            client.send(ASK + early)
            client.sock.shutdown(socket.SHUT_WR)
        assert client.head().status == 101
        assert client.rest() == b""
        until(lambda: any(side.done and side.stream.parked for side in _sides(s)))
        go.set()
        until(lambda: s.inflight() == 0)


def test_slow_reader_stops_the_worker() -> None:
    """What a client does not take stays with the worker, and so in the other direction."""
    size = 64 * 2**20
    stalled, go = threading.Event(), threading.Event()

    def flood(conn: Conn) -> None:
        left = _send_until_stuck(conn.sock, size)
        assert left
        stalled.set()
        assert go.wait(PATIENCE)
        conn.sock.settimeout(PATIENCE)
        conn.send(b"x" * left)
        assert conn.rest() == b""

    with tunnel(flood) as (s, client):
        assert stalled.wait(PATIENCE)
        for handler in s.handlers():
            stream = getattr(handler, "stream", None)
            assert stream is None or len(stream.pending) <= RECEIVE
        go.set()
        left = size - len(client.data)
        client.data = b""
        while left:
            left -= len(client.sock.recv(2**20))


def _send_until_stuck(sock: socket.socket, size: int) -> int:
    """Send until nobody takes more; how many of the bytes are left."""
    sock.settimeout(0.5)
    piece, left = b"x" * 65536, size
    with contextlib.suppress(TimeoutError):
        while left:
            left -= sock.send(piece[:left])
    return left


def test_slow_worker_stops_the_client() -> None:
    """A worker that does not read holds the client up, and gets all in the end."""
    size = 64 * 2**20
    go = threading.Event()

    def lazy(conn: Conn) -> None:
        assert go.wait(PATIENCE)
        left = size
        while left:
            left -= len(conn.sock.recv(2**20))
        conn.send(b"done")

    with tunnel(lazy) as (_, client):
        left = _send_until_stuck(client.sock, size)
        assert left
        go.set()
        client.sock.settimeout(PATIENCE)
        client.send(b"x" * left)
        assert client.exactly(4) == b"done"


# How it ends


def test_reset_of_the_worker() -> None:
    """A worker that is gone is no proper end: the client's connection is reset."""
    go = threading.Event()

    def crash(conn: Conn) -> None:
        assert go.wait(PATIENCE)
        conn.reset()

    with tunnel(crash) as (s, client):
        go.set()
        with pytest.raises(ConnectionResetError):
            client.rest()
        until(lambda: s.inflight() == 0)


def test_reset_of_the_client() -> None:
    """Nor is a client that is gone."""
    ends: list[bool] = []

    def wait(conn: Conn) -> None:
        with contextlib.suppress(ConnectionError):
            conn.rest()
            ends.append(False)
        ends.append(True)

    with tunnel(wait) as (s, client):
        client.reset()
        until(lambda: ends == [True])
        until(lambda: s.inflight() == 0)


def test_reset_while_the_other_does_not_read() -> None:
    """A client that goes while its worker floods it takes the worker's side with it."""

    def flood(conn: Conn) -> None:
        with contextlib.suppress(ConnectionError):
            while True:
                conn.send(b"x" * 65536)

    with tunnel(flood) as (s, client):
        until(lambda: any(h.stream.pending for h in s.handlers() if hasattr(h, "stream")))
        client.reset()
        until(lambda: s.inflight() == 0)


def test_idle_tunnel() -> None:
    """One in which nothing passes is closed, properly, on both sides."""
    ends: list[bytes] = []

    def wait(conn: Conn) -> None:
        ends.append(conn.rest())

    with tunnel(wait, tunnel_idle=0.2) as (s, client):
        assert client.rest() == b""
        until(lambda: ends == [b""])
        assert s.inflight() == 0


def _ends(s: Stage) -> list[Side]:
    """The sides that know when the tunnel is to end."""
    return [side for side in _sides(s) if side.deadline < inf]


def test_bytes_of_either_side_keep_it_open() -> None:
    """Idle is when neither side speaks: a byte of either one puts the end off."""
    go = threading.Event()

    def speak(conn: Conn) -> None:
        assert conn.exactly(1) == b"c"
        assert go.wait(PATIENCE)
        conn.send(b"w")
        assert conn.ended()

    with tunnel(speak) as (s, client):
        until(lambda: bool(_ends(s)))
        (end,) = _ends(s)
        first = end.deadline
        client.send(b"c")
        until(lambda: end.deadline > first)
        second = end.deadline
        go.set()
        assert client.exactly(1) == b"w"
        assert end.deadline > second


def test_time_limits_of_exchanges_do_not_apply() -> None:
    """No limit that was set for the request before it outlives the switch."""
    done = threading.Event()

    def wait(conn: Conn) -> None:
        assert not done.wait(0.5)
        echo(conn)

    short = dict.fromkeys(("head_timeout", "idle_timeout", "body_timeout", "answer_timeout"), 0.1)
    with tunnel(wait, **short) as (_, client):
        client.send(b"still here")
        assert client.exactly(10) == b"still here"


def test_a_stop_gives_it_the_drain_time() -> None:
    """A tunnel goes on while the balancer drains, and is closed when that is over."""
    with tunnel(echo, drain=0.5) as (s, client):
        s.plane.stop()
        until(lambda: s.plane.draining)
        client.send(b"go on")
        assert client.exactly(5) == b"go on"
        assert client.ended()
        s.thread.join(PATIENCE)
        assert s.inflight() == 0


def test_a_stop_ends_with_the_last_tunnel() -> None:
    """Nothing is waited for once it is closed."""
    with tunnel(echo, drain=1000) as (s, client):
        s.plane.stop()
        until(lambda: s.plane.draining)
        client.sock.shutdown(socket.SHUT_WR)
        assert client.rest() == b""
        s.thread.join(PATIENCE)
        assert not s.thread.is_alive()
