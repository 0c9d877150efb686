"""Tests of which clients are closed when there is no room for a new client."""

from __future__ import annotations

import threading
from types import SimpleNamespace

import pytest

from steelyard.balancer.downstream import shedding
from steelyard.balancer.downstream.shedding import (
    BODY,
    BREATH,
    GRACE,
    HEAD,
    IDLE,
    PARTING,
    Shedding,
)
from tests.balancer.stage import GET, OK, PATIENCE, Conn, Play, Stage, Wire, always, stage, until

POST = b"POST / HTTP/1.1\r\nHost: a.org\r\nContent-Length: 100\r\n\r\n"


@pytest.fixture
def no_grace(monkeypatch: pytest.MonkeyPatch) -> None:
    """No client is spared for being new."""
    monkeypatch.setattr(shedding, "GRACE", (-1.0,) * 4)


def served(s: Stage) -> Wire:
    """A client that has been answered and keeps its connection."""
    client = s.call()
    client.send(GET)
    assert client.answer().status == 200
    return client


def begun(s: Stage, data: bytes) -> Wire:
    """A client that has sent a part of a head, which the balancer has read."""
    client = s.call()
    client.send(data)
    until(lambda: any(one.buffer for one in s.plane.front.clients))
    return client


def test_the_client_that_was_idle_longest_goes() -> None:
    """The client that was idle longest is closed, the others stay, and the new client is served."""
    with stage(always(), connections=3) as s:
        first, second, third = (served(s) for _ in range(3))
        first.send(GET)  # the first client came first, but the second has been idle for longer
        assert first.answer().status == 200
        newcomer = s.call()
        newcomer.send(GET)
        assert newcomer.answer().status == 200
        assert second.ended()
        for client in (first, third, newcomer):
            client.send(GET)
            assert client.answer().status == 200
        for client in (first, second, third, newcomer):
            client.sock.close()


@pytest.mark.parametrize("start", [b"", b"GET / HT", POST + b"few"], ids=["none", "head", "body"])
def test_slow_clients_do_not_shut_others_out(start: bytes, no_grace: None) -> None:
    """Clients with no bytes, half a head or half a body make room for new clients."""

    def read_only(conn: Conn) -> None:
        if conn.head().start.startswith(b"POST"):
            conn.rest()
        conn.send(OK)

    with stage(read_only, connections=2) as s:
        slow = [s.call() for _ in range(2)]
        for client in slow:
            client.send(start)
        for _ in range(3):
            assert s.get().status == 200
        for client in slow:
            client.sock.close()


def test_the_idle_go_before_the_slow(no_grace: None) -> None:
    """An idle client is closed before a slow client, even if the slow client came first."""
    with stage(always(), connections=2) as s, begun(s, b"GET / HT") as slow, served(s) as idle:
        assert s.get().status == 200
        assert idle.ended()
        slow.send(b"TP/1.1\r\nHost: a.org\r\n\r\n")
        assert slow.answer().status == 200


def patient(may_answer: threading.Event) -> Play:
    def play(conn: Conn) -> None:
        while True:
            conn.request()
            assert may_answer.wait(PATIENCE)
            conn.send(OK)

    return play


def test_who_waits_for_a_worker_stays(no_grace: None) -> None:
    """Clients that wait for a worker are not closed: a new client waits until one is answered."""
    may_answer = threading.Event()
    with stage(patient(may_answer), connections=2) as s:
        waiting = [s.call() for _ in range(2)]
        for client in waiting:
            client.send(GET)
        until(lambda: len(s.worker.seen) == 2)
        with s.call() as newcomer:
            newcomer.send(GET)
            may_answer.set()
            for client in waiting:
                assert client.answer().status == 200
            assert newcomer.answer().status == 200
        for client in waiting:
            client.sock.close()


def test_a_request_that_has_just_come_is_answered(no_grace: None) -> None:
    """An idle client whose request has just arrived is answered before it can be closed."""
    with stage(always(), connections=1) as s, served(s) as client:
        with s.frozen():
            newcomer = s.call()
            newcomer.send(GET)
            client.send(GET)
        assert client.answer().status == 200
        assert newcomer.answer().status == 200
        newcomer.sock.close()


def test_it_is_told_once(no_grace: None, caplog: pytest.LogCaptureFixture) -> None:
    """The lack of room is logged once, so that a flood of clients does not fill the log."""
    with stage(always(), connections=1) as s:
        clients = [served(s) for _ in range(3)]
        for client in clients:
            client.sock.close()
    told = [record.message for record in caplog.records if "no room" in record.message]
    assert told == ["no room for more than 1 clients: those that are idle or slow are closed"]


# Tests with a clock that the test moves


class Standing:
    """A client that has kept the balancer waiting in state `rank` since `since`.

    The client counts how often its standing was read.
    """

    def __init__(self, rank: int, since: float) -> None:
        self.rank, self.since, self.fd = rank, since, 3
        self.looks = 0
        self.gone = False

    def standing(self) -> tuple[int, float]:
        self.looks += 1
        return self.rank, self.since

    def shed(self) -> bool:
        self.gone = True
        return True


def at(now: float, *clients: Standing) -> SimpleNamespace:
    """A plane whose clock shows `now`."""
    return SimpleNamespace(loop=SimpleNamespace(now=now), clients=set(clients))


@pytest.mark.parametrize("rank", [PARTING, IDLE, HEAD, BODY])
def test_the_new_are_spared(rank: int) -> None:
    """A new client is spared for a grace period, since its bytes may be on their way."""
    client = Standing(rank, since=100.0)
    early = Shedding(at(100.0 + GRACE[rank] - 0.01, client))
    assert not early.make_room()
    assert not client.gone
    assert Shedding(at(100.0 + GRACE[rank] + 0.01, client)).make_room()
    assert client.gone


def test_after_a_look_in_vain_there_is_a_pause() -> None:
    """After a search without success there is a pause: a flood must not cause endless searches."""
    client = Standing(IDLE, since=100.0)
    plane = at(100.0 + GRACE[IDLE] - 0.01, client)
    made = Shedding(plane)
    assert not made.make_room()
    plane.loop.now += BREATH - 0.01  # the grace period is over by now
    assert not made.make_room()
    assert client.looks == 1
    plane.loop.now += 0.02
    assert made.make_room()
    assert client.gone
