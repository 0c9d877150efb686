"""Tests of the time limit for a whole exchange."""

from __future__ import annotations

import threading

from tests.balancer.exchange.test_tunnel import echo, tunnel
from tests.balancer.stage import GET, OK, PATIENCE, Conn, Stage, always, stage, until


def come_due(s: Stage) -> None:
    """Let the time of all exchanges so far run out, and wait until the plane has noticed."""
    overdue = s.plane.front.total_timeout
    assert overdue is not None
    with s.frozen():
        overdue._due = dict.fromkeys(overdue._due, 0.0)
        overdue._waker.deadline = 0.0
    until(lambda: overdue._waker.deadline != 0.0 and overdue._due == {})


def test_no_answer() -> None:
    """An exchange over the total time gets a 504 before the answer timeout, and frees its
    worker."""

    def mute(conn: Conn) -> None:
        conn.request()
        assert conn.ended()

    with stage(mute, total_timeout=0.2) as s, s.call() as client:
        client.send(GET)
        assert client.answer().status == 504
        until(lambda: s.inflight() == 0)


def test_a_trickling_answer() -> None:
    """An answer that is still making progress is cut when the time is over."""
    done = threading.Event()

    def trickle(conn: Conn) -> None:
        conn.request()
        conn.send(b"HTTP/1.1 200 OK\r\nContent-Length: 100000\r\n\r\n")
        while not done.wait(0.02):
            conn.send(b"x")

    with stage(trickle, total_timeout=PATIENCE) as s, s.call() as client:
        client.send(GET)
        assert client.head().status == 200
        come_due(s)
        assert len(client.rest()) < 100_000
        done.set()


def test_a_trickling_body() -> None:
    """A request body that is still making progress gets a 504 when the time is over."""
    with stage(always(), total_timeout=0.3) as s, s.call() as client:
        client.send(b"POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 100000\r\n\r\n")
        done = threading.Event()

        def trickle() -> None:
            while not done.wait(0.02):
                try:
                    client.send(b"x")
                except OSError:
                    return

        thread = threading.Thread(target=trickle)
        thread.start()
        assert client.answer().status == 504
        done.set()
        thread.join()


def test_each_exchange_has_its_own_time() -> None:
    """Each exchange of a connection has a deadline of its own, which goes with the client."""
    late = threading.Event()

    def play(conn: Conn) -> None:
        conn.request()
        conn.send(OK)
        conn.request()
        assert not late.wait(0.2)
        conn.send(OK)
        assert conn.ended()

    with stage(play, total_timeout=PATIENCE) as s, s.call() as client:
        client.send(GET)
        assert client.answer().status == 200
        (only,) = s.plane.front.clients
        assert s.plane.front.total_timeout is not None
        first = s.plane.front.total_timeout._due[only]
        client.send(GET)
        assert client.answer().status == 200
        assert s.plane.front.total_timeout._due[only] > first
        client.sock.close()
        until(lambda: not s.plane.front.clients)
        assert s.plane.front.total_timeout._due == {}


def test_a_tunnel_is_no_exchange() -> None:
    """The time limit of exchanges does not apply to a tunnel."""
    with tunnel(echo, total_timeout=PATIENCE) as (s, client):
        come_due(s)
        client.send(b"still here")
        assert client.exactly(10) == b"still here"


def test_idle_after_an_exchange() -> None:
    """A client that was answered in time stays connected when the time is over."""
    with stage(always(), total_timeout=PATIENCE) as s, s.call() as client:
        client.send(GET)
        assert client.answer().status == 200
        come_due(s)
        client.send(GET)
        assert client.answer().status == 200
