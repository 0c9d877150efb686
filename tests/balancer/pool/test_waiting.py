"""Tests of requests that wait for a worker: their order, their number and their time."""

from __future__ import annotations

import contextlib
import select
import socket
import threading
from collections import Counter

from hypothesis import given
from hypothesis import strategies as st

from steelyard.balancer.control.reporter import Reporter
from steelyard.balancer.pool.upstream import Upstream
from steelyard.balancer.pool.waiting import WaitingRequests
from steelyard.core.lifecycle import State
from tests.balancer.stage import GET, OK, PATIENCE, Conn, Stage, Wire, always, stage, until


def line(*joins: str, most: int = 100) -> WaitingRequests[str]:
    """Waiting requests that joined one second apart: `a1 b1` is one of client a, then one of b."""
    made: WaitingRequests[str] = WaitingRequests(most)
    for now, item in enumerate(joins):
        assert made.join(item[0].encode(), item, float(now))
    return made


def drained(made: WaitingRequests[str]) -> list[str]:
    return [made.next() for _ in range(len(made))]


def test_clients_take_turns() -> None:
    """Clients take turns, and each client's requests are served in order."""
    made = line("a1", "a2", "a3", "b1", "c1", "b2")
    assert drained(made) == ["a1", "b1", "c1", "a2", "b2", "a3"]


def test_a_full_line_takes_nobody() -> None:
    """When as many requests wait as may, no other joins until one leaves."""
    made = line("a1", "b1", most=2)
    assert not made.join(b"c", "c1", 9.0)
    made.leave("a1")
    assert made.join(b"c", "c1", 9.0)
    assert not WaitingRequests[str](0).join(b"a", "a1", 0.0)


def test_leaving_from_the_middle() -> None:
    """A request that leaves from the middle does not hold up the others."""
    made = line("a1", "a2", "b1", "a3")
    made.leave("a2")
    made.leave("b1")
    assert drained(made) == ["a1", "a3"]


def test_the_late_are_taken_out() -> None:
    """Requests are late by the time they joined, whichever client's turn it is."""
    made = line("a1", "a2", "b1", "a3")
    assert made.oldest == 0.0
    assert made.late(1.0) == ["a1", "a2"]
    assert made.oldest == 2.0
    assert drained(made) == ["a3", "b1"]
    assert made.late(9.0) == []


@given(st.lists(st.sampled_from(["a", "b", "c", "next", "leave", "late"]), max_size=100))
def test_nobody_is_lost_or_overtaken_twice(steps: list[str]) -> None:
    """Each request leaves once, requests of one client stay in order, and while a client waits, no
    other client is served twice."""
    made: WaitingRequests[str] = WaitingRequests(20)
    inside: dict[str, int] = {}
    # For each waiting client: the others served since it began to wait, or was last served.
    passed: dict[str, set[str]] = {}
    for now, step in enumerate(steps):
        if step in "abc":
            item = f"{step}{now}"
            if made.join(step.encode(), item, float(now)):
                inside[item] = now
        elif step == "late":
            late = made.late(now - 30.0)
            assert late == [item for item, since in inside.items() if since <= now - 30]
            for item in late:
                del inside[item]
        elif step == "leave" and inside:
            item = next(iter(inside))
            made.leave(item)
            del inside[item]
        elif inside:
            item = made.next()
            client = item[0]
            assert item == min((i for i in inside if i[0] == client), key=inside.__getitem__)
            del inside[item]
            passed[client] = set()
            for other in passed.keys() - client:
                assert client not in passed[other]
                passed[other].add(client)
        assert len(made) == len(inside)
        waiting = {other[0] for other in inside}
        passed = {client: passed.get(client, set()) for client in waiting}


# Tests on real sockets


class Door:
    """A worker that answers a request each time `open` is released."""

    def __init__(self) -> None:
        self.open = threading.Semaphore(0)

    def __call__(self, conn: Conn) -> None:
        while True:
            conn.request()
            assert self.open.acquire(timeout=PATIENCE)
            conn.send(OK)


def call_from(s: Stage, host: str) -> Wire:
    """A client that connects from the address `host`."""
    return Wire(socket.create_connection(("127.0.0.1", s.port), PATIENCE, (host, 0)))


def request(target: bytes) -> bytes:
    return b"GET /%b HTTP/1.1\r\nHost: a\r\n\r\n" % target


def test_no_worker_gets_more_than_its_limit() -> None:
    """Requests over a worker's limit wait, and are served in the order in which they came."""
    door = Door()
    with stage(door, worker_concurrency=1) as s, contextlib.ExitStack() as stack:
        clients = [stack.enter_context(s.call()) for _ in range(6)]
        for number, client in enumerate(clients):
            client.send(request(b"%d" % number))
            until(lambda n=number: s.inflight() + len(s.plane.pool.waiting) == n + 1)  # type: ignore[misc]
        assert (s.inflight(), len(s.plane.pool.waiting)) == (1, 5)
        for client in clients:
            door.open.release()
            assert client.answer().body == b"ok"
            assert s.inflight() <= 1
        assert b"".join(seen.start[5:6] for seen in s.worker.seen) == b"012345"
        until(lambda: s.plane.loop.chore is None)


def test_clients_take_turns_at_the_door() -> None:
    """A client with many requests does not delay the first request of another client."""
    door = Door()
    with stage(door, worker_concurrency=1) as s, contextlib.ExitStack() as stack:
        for number, (host, name) in enumerate(
            [("127.0.0.2", b"a"), *[("127.0.0.2", b"b")] * 3, ("127.0.0.3", b"c")]
        ):
            stack.enter_context(call_from(s, host)).send(request(name))
            until(lambda n=number: s.inflight() + len(s.plane.pool.waiting) == n + 1)  # type: ignore[misc]
        for _ in range(5):
            door.open.release()
        until(lambda: len(s.worker.seen) == 5)
        assert [seen.start[5:6] for seen in s.worker.seen] == [b"a", b"b", b"c", b"b", b"b"]


def test_nobody_overtakes_the_line() -> None:
    """A new request does not overtake waiting requests, even in the round in which room is made."""
    door = Door()
    with stage(door, worker_concurrency=1) as s, contextlib.ExitStack() as stack:
        first, second, third = (stack.enter_context(s.call()) for _ in range(3))
        first.send(request(b"1"))
        until(lambda: s.inflight() == 1)
        second.send(request(b"2"))
        until(lambda: len(s.plane.pool.waiting) == 1 and len(s.plane.front.clients) == 3)
        (upstream,) = (one for one in s.handlers() if isinstance(one, Upstream))
        with s.frozen():
            door.open.release(3)
            assert select.select([upstream.sock], [], [], PATIENCE)[0]
            third.send(request(b"3"))
        assert {client.answer().status for client in (first, second, third)} == {200}
        assert b"".join(seen.start[5:6] for seen in s.worker.seen) == b"123"


def test_a_full_line_refuses_at_once() -> None:
    """A request that finds the line full gets a 503 with Retry-After; the others wait on."""
    door = Door()
    with (
        stage(door, worker_concurrency=1, waiting=1, waiting_time=60) as s,
        s.call() as first,
        s.call() as second,
    ):
        first.send(GET)
        until(lambda: s.inflight() == 1)
        second.send(GET)
        until(lambda: len(s.plane.pool.waiting) == 1)
        answer = s.get()
        assert (answer.status, answer.get(b"retry-after")) == (503, b"1")
        assert s.plane.pool.refused == 1
        door.open.release(2)
        assert first.answer().status == second.answer().status == 200


def test_a_wait_has_an_end() -> None:
    """A request that waits too long gets a 503, and its connection stays open."""
    door = Door()
    with (
        stage(door, worker_concurrency=1, waiting_time=0.1) as s,
        s.call() as first,
        s.call() as second,
    ):
        first.send(GET)
        until(lambda: s.inflight() == 1)
        second.send(GET)
        assert second.answer().status == 503
        door.open.release(2)
        assert first.answer().status == 200
        second.send(GET)
        assert second.answer().status == 200


def test_a_client_that_leaves_is_taken_out() -> None:
    """The waiting request of a client that leaves never reaches a worker."""
    door = Door()
    with stage(door, worker_concurrency=1) as s, s.call() as first, s.call() as last:
        first.send(request(b"first"))
        until(lambda: s.inflight() == 1)
        leaver = s.call()
        leaver.send(request(b"leaver"))
        until(lambda: len(s.plane.pool.waiting) == 1)
        last.send(request(b"last"))
        until(lambda: len(s.plane.pool.waiting) == 2)
        leaver.reset()
        until(lambda: len(s.plane.pool.waiting) == 1)
        door.open.release(2)
        assert first.answer().status == last.answer().status == 200
        assert [seen.start.split()[1] for seen in s.worker.seen] == [b"/first", b"/last"]


def test_a_new_worker_takes_from_the_line() -> None:
    """A waiting request goes to a new worker as soon as the table has that worker."""
    door = Door()
    with stage(door, always(), worker_concurrency=1, slow_start=0) as s:
        s.queue(s.workers[0].entry())
        with s.call() as first, s.call() as second:
            first.send(GET)
            until(lambda: s.inflight() == 1)
            second.send(GET)
            until(lambda: len(s.plane.pool.waiting) == 1)
            s.queue(s.workers[0].entry(), s.workers[1].entry())
            assert second.answer().status == 200
            door.open.release()
            assert first.answer().status == 200


def test_with_nobody_left_the_line_is_sent_away() -> None:
    """Waiting requests get a 503 when no worker serves: whether one will come is not known."""
    door = Door()
    with (
        stage(door, worker_concurrency=1, waiting_time=60) as s,
        s.call() as first,
        s.call() as second,
    ):
        first.send(GET)
        until(lambda: s.inflight() == 1)
        second.send(GET)
        until(lambda: len(s.plane.pool.waiting) == 1)
        s.queue(s.workers[0].entry(State.SUNDOWN))
        assert second.answer().status == 503
        door.open.release()
        assert first.answer().status == 200


def test_a_body_waits_with_its_request() -> None:
    """A body that arrives while its request waits reaches the worker whole."""
    door = Door()
    body = b"x" * 300_000
    with stage(door, worker_concurrency=1) as s, s.call() as first, s.call() as second:
        door.open.release()
        first.send(GET)
        assert first.answer().status == 200
        first.send(GET)
        until(lambda: s.inflight() == 1)
        second.send(b"POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 300000\r\n\r\n")
        until(lambda: len(s.plane.pool.waiting) == 1)
        writer = threading.Thread(target=second.send, args=(body,))
        writer.start()
        # The balancer has stopped reading from the client.
        until(lambda: any(not client.mask & 1 for client in s.plane.front.clients))
        door.open.release(2)
        assert first.answer().status == second.answer().status == 200
        writer.join()
        assert s.worker.seen[-1].body == body
        assert s.worker.accepted == 1


def test_a_client_in_line_is_not_late_when_we_do_not_read() -> None:
    """A body that the balancer does not read is not late, but a body that does not come is."""
    door = Door()
    post = b"POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 4000000\r\n\r\n"
    with (
        stage(door, worker_concurrency=1, body_timeout=0.3, waiting_time=PATIENCE) as s,
        s.call() as first,
        s.call() as second,
        s.call() as idler,
    ):
        first.send(GET)
        until(lambda: s.inflight() == 1)
        second.send(post)
        writer = threading.Thread(target=second.send, args=(b"x" * 4_000_000,))
        writer.start()
        # The balancer has stopped reading from the client.
        until(lambda: any(not client.mask & 1 for client in s.plane.front.clients))
        idler.send(post)
        assert idler.answer().status == 408
        s.go_round()
        door.open.release(2)
        assert first.answer().status == second.answer().status == 200
        writer.join()
        assert s.worker.seen[-1].body == b"x" * 4_000_000


def test_a_retry_waits_for_room_at_another_worker() -> None:
    """When a worker fails while the others are full, the request waits for its retry."""
    door, fall = Door(), threading.Event()

    def falls(conn: Conn) -> None:
        conn.request()
        assert fall.wait(PATIENCE)

    with stage(falls, door, worker_concurrency=1, policy="least_in_flight", retries=1) as s:
        with s.call() as first, s.call() as second:
            first.send(GET)
            second.send(GET)
            until(lambda: sum(len(worker.seen) for worker in s.workers) == 2)
            fall.set()
            until(lambda: len(s.plane.pool.waiting) == 1)
            door.open.release(2)
            assert first.answer().status == second.answer().status == 200
        assert (len(s.workers[1].seen), s.workers[1].accepted) == (2, 2)  # a new connection


def test_the_line_is_reported() -> None:
    """A report says how many requests wait, and how long the first of them has waited."""
    door = Door()
    with stage(door, worker_concurrency=1) as s, s.call() as first, s.call() as second:
        reporter = Reporter("b", s.plane.front, s.directory)
        first.send(GET)
        until(lambda: s.inflight() == 1)
        assert (reporter.draft().report.waiting, reporter.draft().report.wait_seconds) == (0, 0)
        second.send(GET)
        until(lambda: len(s.plane.pool.waiting) == 1)
        report = reporter.draft().report
        assert report.waiting == 1
        until(lambda: reporter.draft().report.wait_seconds > report.wait_seconds > 0)
        door.open.release(2)
        assert first.answer().status == second.answer().status == 200
        until(lambda: reporter.draft().report.wait_seconds == 0)


def test_a_crowd_is_served_to_the_last() -> None:
    """With many clients and few places all are answered, and no worker exceeds its limit."""
    most: Counter[int] = Counter()
    lock = threading.Lock()

    def counting(conn: Conn) -> None:
        while True:
            conn.request()
            with lock:
                most[id(conn.worker)] += 1
                assert most[id(conn.worker)] <= 2
            with lock:
                most[id(conn.worker)] -= 1
            conn.send(OK)

    with stage(counting, counting, worker_concurrency=2, waiting_time=60) as s:
        statuses: list[int] = []

        def ask() -> None:
            with s.call() as client:
                for _ in range(20):
                    client.send(GET)
                    statuses.append(client.answer().status)

        threads = [threading.Thread(target=ask) for _ in range(16)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert statuses == [200] * 320
