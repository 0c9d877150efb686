"""Workers that vanish without closing: their exchanges end once the queue omits them."""

from __future__ import annotations

import threading
from collections.abc import Callable

import pytest

from steelyard.core.lifecycle import State
from tests.balancer.exchange.test_tunnel import tunnel
from tests.balancer.stage import GET, OK, PATIENCE, Conn, Stage, always, stage, until

POST = b"POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 2\r\n\r\nhi"
REFUSED = b"the worker gave no answer"


class Silent:
    """A worker that sends a part of an answer, and then nothing until `go` is set."""

    def __init__(self, says: bytes = b"") -> None:
        self.says = says
        self.go = threading.Event()

    def play(self, conn: Conn) -> None:
        conn.request()
        conn.send(self.says)
        assert self.go.wait(PATIENCE)


def begun(s: Stage, count: int = 1) -> None:
    until(lambda: sum(len(worker.seen) for worker in s.workers) == count)


@pytest.fixture
def silent() -> Silent:
    return Silent()


def test_a_safe_request_is_tried_elsewhere(silent: Silent) -> None:
    """When its worker vanishes, a GET is retried at once, long before the answer timeout."""
    with stage(silent.play, always()) as s, s.call() as client:
        lost, other = s.workers
        s.queue(lost.entry())
        client.send(GET)
        begun(s)
        s.queue(other.entry())
        assert client.answer().body == b"ok"
        silent.go.set()


def test_another_is_told(silent: Silent) -> None:
    """When its worker vanishes, a POST, which may have had its effect, is answered with 502."""
    with stage(silent.play, always()) as s, s.call() as client:
        lost, other = s.workers
        s.queue(lost.entry())
        client.send(POST)
        begun(s)
        s.queue(other.entry())
        told = client.answer()
        assert (told.status, REFUSED in told.body) == (502, True)
        silent.go.set()


def test_an_answer_that_has_begun_is_cut() -> None:
    """When its worker vanishes within an answer, the client sees a cut answer."""
    silent = Silent(OK[:-1])
    with stage(silent.play) as s, s.call() as client:
        client.send(GET)
        client.until(b"\r\n\r\no")
        s.queue()
        assert client.ended()
        silent.go.set()


def test_a_tunnel_is_broken(silent: Silent) -> None:
    """When its worker vanishes, a tunnel is closed: both sides would otherwise wait for an hour."""

    def quiet(conn: Conn) -> None:
        assert silent.go.wait(PATIENCE)

    with tunnel(quiet) as (s, client):
        s.queue()
        assert client.ended()
        silent.go.set()


def leaves(s: Stage) -> None:
    s.queue(s.worker.entry(State.SHUTDOWN, weight=0))


def is_unknown_to_the_next_agent(s: Stage) -> None:
    s.queue(epoch="next")
    s.queue(epoch="next")


@pytest.mark.parametrize("happens", [leaves, is_unknown_to_the_next_agent])
def test_who_may_still_answer_does(happens: Callable[[Stage], None]) -> None:
    """A worker that is being stopped, or that a new agent has not found yet, may still answer."""
    go = threading.Event()

    def late(conn: Conn) -> None:
        conn.request()
        assert go.wait(PATIENCE)
        conn.send(OK)

    with stage(late) as s, s.call() as client:
        client.send(POST)
        begun(s)
        happens(s)
        go.set()
        assert client.answer().body == b"ok"


def test_last_words_are_read(silent: Silent) -> None:
    """An answer counts even if it arrives together with the queue that omits its worker."""

    def last(conn: Conn) -> None:
        conn.request()
        assert silent.go.wait(PATIENCE)
        conn.send(OK)
        said.set()
        conn.more()  # wait until the balancer has closed

    said = threading.Event()
    with stage(last) as s, s.call() as client:
        client.send(POST)
        begun(s)
        table = s.table()
        with s.frozen():
            s.plane.offer(table)
            silent.go.set()
            assert said.wait(PATIENCE)
        assert client.answer().body == b"ok"
