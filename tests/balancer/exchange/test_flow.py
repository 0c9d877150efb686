"""Tests of large answers, which flow through a pipe that all connections share."""

from __future__ import annotations

import contextlib
import random
import threading

from tests.balancer.stage import GET, Conn, Play, Stage, stage, until

HEAD = b"HTTP/1.1 200 OK\r\nContent-Length: %d\r\n\r\n"
LARGE = 64 * 1024  # the value in exchange.py
SIZE = 3 * 1024 * 1024 + 17


def body(seed: int) -> bytes:
    return random.Random(seed).randbytes(SIZE)


def numbered(sizes: dict[bytes, bytes]) -> Play:
    """A worker with a body for each target."""

    def play(conn: Conn) -> None:
        while True:
            answer = sizes[conn.request().start.split(b" ")[1]]
            conn.send(HEAD % len(answer) + answer)

    return play


def ask(s: Stage, target: bytes, receive_buffer: int | None = None) -> bytes:
    with s.call(receive_buffer) as client:
        client.send(GET.replace(b"/", target, 1))
        return client.answer().body


def test_flows() -> None:
    """Large answers arrive unchanged, one after the other on the same connections."""
    bodies = {b"/%d" % size: body(size)[:size] for size in (LARGE, LARGE + 1, 5 * LARGE, SIZE)}
    with stage(numbered(bodies)) as s, s.call() as client:
        for target, expected in list(bodies.items()) * 2:
            client.send(GET.replace(b"/", target, 1))
            assert client.answer().body == expected
        assert s.worker.accepted == 1
        assert s.total("received") > 2 * sum(map(len, bodies.values()))


def test_a_slow_reader() -> None:
    """A client with a small receive buffer gets the whole answer."""
    with stage(numbered({b"/a": body(1)}), send_buffer=8192) as s:
        assert ask(s, b"/a", receive_buffer=8192) == body(1)


def test_nobody_gets_what_another_left() -> None:
    """Clients that reset within an answer leave no bytes in the pipe for other clients."""
    bodies = {b"/%d" % seed: body(seed) for seed in range(4)}
    wrong: list[bytes] = []

    def reader(target: bytes) -> None:
        for _ in range(4):
            if ask(s, target) != bodies[target]:
                wrong.append(target)

    def leaver(target: bytes) -> None:
        for _ in range(12):
            with s.call(4096) as client, contextlib.suppress(ConnectionError):
                client.send(GET.replace(b"/", target, 1))
                client.sock.recv(1000)
                client.reset()

    with stage(numbered(bodies), send_buffer=16384) as s:
        threads = [
            threading.Thread(target=play, args=(target,))
            for target in bodies
            for play in (reader, leaver)
        ]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        until(lambda: not s.plane.front.clients)
    assert not wrong


def test_a_cut_answer() -> None:
    """When a worker closes within its answer, the client sees a cut answer."""

    def play(conn: Conn) -> None:
        conn.request()
        conn.send(HEAD % SIZE + body(1)[:-1])

    with stage(play) as s, s.call() as client:
        client.send(GET)
        received = b""
        with contextlib.suppress(ConnectionError):
            while piece := client.sock.recv(1 << 20):
                received += piece
        assert received.partition(b"\r\n\r\n")[2] == body(1)[:-1]
        until(lambda: not s.plane.front.clients)
        assert s.total("failures") == 1


def test_more_than_it_said() -> None:
    """Bytes after the body are not passed on, and the worker's connection is closed."""
    answer = HEAD % SIZE + body(1)

    def play(conn: Conn) -> None:
        conn.request()
        conn.send(answer + b"HTTP/1.1 200 OK\r\n\r\n")

    with stage(play) as s, s.call() as client:
        for _ in range(2):
            client.send(GET)
            assert client.answer().body == body(1)
        assert s.worker.accepted == 2
