"""Upgrades between raw sockets: which requests get a tunnel, what passes and how it ends."""

from __future__ import annotations

import contextlib
import select
import socket
import threading
import time
from collections.abc import Iterator
from math import inf

import pytest

from steelyard.balancer.control.reporter import Reporter
from steelyard.balancer.exchange.tunnel import Side
from steelyard.balancer.io.loop import RECEIVE
from steelyard.balancer.pool import upstream
from steelyard.balancer.pool.worker import Worker
from steelyard.core.lifecycle import State
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
    """A worker that agrees to every upgrade and then plays `then`."""

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
    """A stage, and a client whose upgrade the worker has agreed to."""
    with stage(switching(then), **limits) as s, s.call() as client:
        client.send(ASK)
        assert client.head().status == 101
        yield s, client


def _sides(s: Stage) -> list[Side]:
    return [handler for handler in s.handlers() if isinstance(handler, Side)]


# Which requests get a tunnel


def seen(*lines: bytes) -> Message:
    """The request that a worker receives when a client sends these field lines."""
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
    """An offer is forwarded with only Connection: upgrade and Upgrade, and without h2c."""
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
    """Upgrade and Connection: upgrade count only together, and h2c is never passed on."""
    got = seen(*lines)
    for name in (b"connection", b"upgrade", b"http2-settings"):
        assert got.get(name) is None


def test_no_offer_beside_a_body() -> None:
    """An offer beside a body is dropped: where the new protocol begins must not be in doubt."""
    for framing in (b"Content-Length: 2\r\n\r\nok", b"Transfer-Encoding: chunked\r\n\r\n0\r\n\r\n"):
        with stage(always()) as s:
            ask = b"POST / HTTP/1.1\r\nHost: a\r\nConnection: upgrade\r\nUpgrade: x\r\n"
            assert s.get(ask + framing).status == 200
            assert s.worker.seen[0].get(b"upgrade") is None


def test_no_offer_in_http10() -> None:
    """An offer in an HTTP/1.0 request is ignored (RFC 9110, 7.8)."""
    with stage(always()) as s:
        ask = b"GET / HTTP/1.0\r\nConnection: upgrade\r\nUpgrade: x\r\n\r\n"
        assert s.get(ask).status == 200
        assert s.worker.seen[0].get(b"upgrade") is None


@pytest.mark.parametrize("offer", [b"x y", b"x/1/2", b'"x"', b"x;q=1"])
def test_a_bad_offer_is_refused(offer: bytes) -> None:
    """An Upgrade field that is not a list of protocols is refused."""
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
    """A 101 to anything but one of the protocols offered is a failure of the worker."""
    with stage(once(answer)) as s:
        assert s.get(request_).status == 502
        until(lambda: s.total("failures") == 1)


def test_any_other_answer_is_an_ordinary_one() -> None:
    """A worker may ignore the offer, and the connection then continues with HTTP."""
    with stage(always()) as s, s.call() as client:
        client.send(ASK + GET)
        assert [client.answer().body for _ in range(2)] == [b"ok", b"ok"]
        assert s.worker.accepted == 1


def test_upgrade_required_says_to_what() -> None:
    """The Upgrade field of a 426 reaches the client (RFC 9110, 15.5.22), that of a 200 does not."""
    needed = OK.replace(b"200 OK", b"426 Upgrade Required\r\nUpgrade: x")
    with stage(always(needed)) as s:
        assert s.get().get(b"upgrade") == b"x"
    with stage(always(needed.replace(b"426", b"200"))) as s:
        assert s.get().get(b"upgrade") is None


# What passes through a tunnel


def test_the_head_of_a_switch() -> None:
    """The client gets the 101 with the protocol agreed on, after a 103, and without a length."""
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
    """A tunnel passes any bytes both ways, and is counted while it is open."""
    with tunnel(echo) as (s, client):
        for data in (b"\0\xff\r\n\r\n", GET, b"x" * 300_000):
            client.send(data)
            assert client.exactly(len(data)) == data
        traffic = Reporter("b1", s.plane.front, s.directory).draft().report.workers["w0"]
        assert (traffic.inflight, traffic.tunnels) == (1, 1)
        client.sock.shutdown(socket.SHUT_WR)
        assert client.rest() == b""
        until(lambda: s.inflight() == 0)
        assert s.total("tunnels") == 0
        assert (s.total("requests"), s.total("failures")) == (1, 0)
        assert s.total("sent") > 300_000
        assert s.total("received") > 300_000


def test_early_bytes_belong_to_the_tunnel() -> None:
    """Bytes that the client sends before the 101 go to the worker, even with an end behind them."""

    def whole(conn: Conn) -> None:
        conn.send(b"<" + conn.rest() + b">")

    with stage(switching(whole)) as s, s.call() as client:
        client.send(ASK + b"early")
        client.sock.shutdown(socket.SHUT_WR)
        assert client.head().status == 101
        assert client.rest() == b"<early>"


def test_half_close_of_the_client() -> None:
    """After the client closes its sending side, the worker sees the end and can still answer."""

    def sum_up(conn: Conn) -> None:
        got = conn.rest()
        conn.send(b"%d" % len(got))

    with tunnel(sum_up) as (_, client):
        client.send(b"x" * 1_000_000)
        client.sock.shutdown(socket.SHUT_WR)
        assert client.rest() == b"1000000"


def test_half_close_of_the_worker() -> None:
    """After the worker closes its sending side, the client sees the end and can still send."""
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
        until(lambda: not s.plane.front.clients)


def test_an_end_behind_bytes_that_a_slow_reader_has_to_take() -> None:
    """A slow client receives all bytes that the worker sent before it closed."""
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


def test_an_end_that_was_told_while_its_side_was_paused() -> None:
    """Bytes before a worker's end arrive, even when the event reports the end without them.

    Within one round of the loop, the client's side may make room and so resume the worker's side.
    The worker's event of that round was made while its side was paused: the event reports the end
    of the stream, and not the bytes before the end.
    """
    heard, go, over = threading.Event(), threading.Event(), threading.Event()

    def farewell(conn: Conn) -> None:
        assert conn.rest() == b""
        heard.set()
        assert go.wait(PATIENCE)
        conn.send(b"last words")
        conn.sock.shutdown(socket.SHUT_WR)
        over.set()

    with tunnel(farewell) as (s, client):
        client.sock.shutdown(socket.SHUT_WR)
        assert heard.wait(PATIENCE)
        with s.frozen():
            (back,) = [side for side in _sides(s) if not side.eof]
            go.set()
            assert over.wait(PATIENCE)
            back.on_event(select.EPOLLHUP)
        assert client.rest() == b"last words"


def test_an_end_behind_early_bytes(monkeypatch: pytest.MonkeyPatch) -> None:
    """A client that has sent and received its end is parked while the worker still reads."""
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
    """When the client does not read, the worker cannot send, and the balancer buffers little."""
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
    """Send until the socket takes no more bytes, and return how many are left."""
    sock.settimeout(0.5)
    piece, left = b"x" * 65536, size
    with contextlib.suppress(TimeoutError):
        while left:
            left -= sock.send(piece[:left])
    return left


def test_slow_worker_stops_the_client() -> None:
    """When the worker does not read, the client cannot send; later the worker gets all bytes."""
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


# How a tunnel ends


def test_reset_of_the_worker() -> None:
    """When the worker resets its connection, the client's connection is reset as well."""
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
    """When the client resets its connection, the worker's connection is reset as well."""
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
    """A reset by the client ends the tunnel, even while the worker sends."""

    def flood(conn: Conn) -> None:
        with contextlib.suppress(ConnectionError):
            while True:
                conn.send(b"x" * 65536)

    with tunnel(flood) as (s, client):
        until(lambda: any(h.stream.pending for h in s.handlers() if hasattr(h, "stream")))
        client.reset()
        until(lambda: s.inflight() == 0)


def test_idle_tunnel() -> None:
    """A tunnel in which no bytes pass is closed on both sides without a reset."""
    ends: list[bytes] = []

    def wait(conn: Conn) -> None:
        ends.append(conn.rest())

    with tunnel(wait, tunnel_idle=0.2) as (s, client):
        assert client.rest() == b""
        until(lambda: ends == [b""])
        assert s.inflight() == 0


def _ends(s: Stage) -> list[Side]:
    """The sides of tunnels that hold a deadline."""
    return [side for side in _sides(s) if side.deadline < inf]


def test_bytes_of_either_side_keep_it_open() -> None:
    """A byte from either side puts off the deadline of an idle tunnel."""
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
    """The time limits of HTTP exchanges do not apply to a tunnel."""
    limits = dict.fromkeys(("head_timeout", "idle_timeout", "body_timeout", "answer_timeout"))
    with tunnel(echo, **dict.fromkeys(limits, PATIENCE)) as (s, client):
        client.send(b"still here")
        assert client.exactly(10) == b"still here"
        over = time.monotonic() + PATIENCE
        assert [one for one in _ends(s) if one.deadline <= over] == []


def test_a_stop_gives_it_the_drain_time() -> None:
    """A tunnel stays open while the balancer drains, and is closed when the drain time is over."""
    with tunnel(echo, drain=0.5) as (s, client):
        s.plane.stop()
        until(lambda: s.plane.front.draining)
        client.send(b"go on")
        assert client.exactly(5) == b"go on"
        assert client.ended()
        s.thread.join(PATIENCE)
        assert s.inflight() == 0


def test_a_stop_ends_with_the_last_tunnel() -> None:
    """A balancer that drains stops as soon as its last tunnel is closed."""
    with tunnel(echo, drain=1000) as (s, client):
        s.plane.stop()
        until(lambda: s.plane.front.draining)
        client.sock.shutdown(socket.SHUT_WR)
        assert client.rest() == b""
        s.thread.join(PATIENCE)
        assert not s.thread.is_alive()


# Close frames from the balancer

ACCEPTED = (
    b"HTTP/1.1 101 Switching Protocols\r\nConnection: upgrade\r\nUpgrade: WebSocket\r\n"
    b"Sec-WebSocket-Accept: x\r\n\r\n"
)
DRAFT = ACCEPTED.replace(b"Sec-WebSocket-Accept", b"Sec-WebSocket-Location")
ASK_WEBSOCKET = asking(b"Connection: upgrade", b"Upgrade: websocket")
AWAY = b"\x88\x02\x03\xe9"  # a Close frame with code 1001, as a server sends it
ECHO = b"\x88\x82\0\0\0\0\x03\xe9"  # the same frame, as a client sends it
HELLO = b"\x82\x05hello"


def accepting(then: Play, first: bytes = b"", answer: bytes = ACCEPTED) -> Play:
    """A worker that agrees to a WebSocket and sends its first frames with its answer."""

    def play(conn: Conn) -> None:
        conn.head()
        conn.send(answer + first)
        then(conn)

    return play


@contextlib.contextmanager
def websocket(play: Play, **limits: object) -> Iterator[tuple[Stage, Wire]]:
    """A stage, and a client whose WebSocket the worker has agreed to."""
    with stage(play, **limits) as s, s.call() as client:
        client.send(ASK_WEBSOCKET)
        assert client.head().status == 101
        yield s, client


def announce(s: Stage) -> None:
    """Publish a queue that says that the worker is about to be stopped."""
    entry = s.worker.entry(State.SUNDOWN, 0.0)
    s.queue(entry.model_copy(update={"closing": True}))


def note_rest(conn: Conn) -> None:
    """Read everything up to the end of the connection."""
    while conn.more():
        pass


def test_a_websocket_of_a_worker_that_is_stopped() -> None:
    """A client of a stopping worker gets a Close frame (1001); its reply goes to the worker."""

    def play(conn: Conn) -> None:
        conn.until(ECHO)
        conn.send(AWAY)  # the reply to ECHO; the client has already got a Close frame

    with websocket(accepting(play, HELLO)) as (s, client):
        assert client.exactly(len(HELLO)) == HELLO
        announce(s)
        assert client.exactly(len(AWAY)) == AWAY
        client.send(ECHO)
        assert client.rest() == b""
        until(lambda: s.inflight() == 0)


def test_a_close_frame_waits_for_the_frame_before_it() -> None:
    """The Close frame follows the frame that is being sent, and no frame follows it."""
    go_on = threading.Event()

    def play(conn: Conn) -> None:
        assert go_on.wait(PATIENCE)
        conn.send(HELLO[4:] + HELLO)
        note_rest(conn)

    with websocket(accepting(play, HELLO + HELLO[:4])) as (s, client):
        assert client.exactly(11) == HELLO + HELLO[:4]
        announce(s)
        go_on.set()
        assert client.exactly(7) == HELLO[4:] + AWAY
        client.send(ECHO)
        assert client.ended()


def test_a_client_that_does_not_answer_a_close_frame() -> None:
    """If the client does not reply, the worker gets a masked Close frame from the balancer."""
    with websocket(accepting(note_rest)) as (s, client):
        client.send(b"\x82\x81\0\0\0\0x")
        until(lambda: s.worker.bytes.endswith(b"x"))
        before = len(s.worker.bytes)
        announce(s)
        assert client.exactly(len(AWAY)) == AWAY
        assert client.ended()
        until(lambda: s.inflight() == 0)
        until(lambda: len(s.worker.bytes) == before + 8)
        frame = s.worker.bytes[-8:]
        assert frame[:2] == b"\x88\x82"
        assert bytes(a ^ b for a, b in zip(frame[2:4], frame[6:], strict=True)) == AWAY[2:]


def test_no_frame_within_a_frame() -> None:
    """If the worker does not finish its frame, the tunnel is closed without a Close frame."""
    with websocket(accepting(note_rest, HELLO[:4])) as (s, client):
        assert client.exactly(4) == HELLO[:4]
        announce(s)
        assert client.ended()


def test_one_close_frame_is_enough() -> None:
    """When the worker has sent its own Close frame, the balancer adds none."""
    own = b"\x88\x02\x03\xe8"
    with websocket(accepting(note_rest, own)) as (s, client):
        announce(s)
        assert client.rest() == own


@pytest.mark.parametrize("answer", [SWITCH, DRAFT])
def test_other_protocols_are_left_alone(answer: bytes) -> None:
    """The balancer sends no Close frame in a tunnel that is not a WebSocket of RFC 6455."""
    offer = b"Upgrade: x, websocket"
    with stage(accepting(echo, answer=answer)) as s, s.call() as client:
        client.send(asking(b"Connection: upgrade", offer))
        assert client.head().status == 101
        announce(s)
        s.queue(s.worker.entry(State.SUNDOWN, 0.0))
        client.send(b"ping")
        assert client.exactly(4) == b"ping"


def test_a_websocket_at_the_end_of_a_drain() -> None:
    """A balancer that stops sends its WebSockets a Close frame before the drain time is over."""
    with websocket(accepting(echo), drain=2.0) as (s, client):
        s.plane.stop()
        assert client.exactly(len(AWAY)) == AWAY
        client.send(ECHO)
        client.sock.shutdown(socket.SHUT_WR)
        client.ended()
        s.thread.join(PATIENCE)
        assert not s.thread.is_alive()


def test_frames_that_came_with_a_long_answer() -> None:
    """Frames after a 101 are tracked from their first octet, even if the 101 is very long."""
    first = b"\x82\x7e\x40\x00" + bytes(0x4000)
    padded = ACCEPTED[:-2] + b"X-Long: " + b"a" * 5000 + b"\r\n\r\n"
    for answer in (ACCEPTED, padded):
        with websocket(accepting(note_rest, first, answer)) as (s, client):
            assert client.exactly(len(first)) == first
            announce(s)
            assert client.exactly(len(AWAY)) == AWAY
            client.send(ECHO)
