"""Tests of whole exchanges (request, retries, answer) between real sockets."""

from __future__ import annotations

import socket
import threading
import time
from email.utils import parsedate_to_datetime

import pytest

from steelyard.balancer.exchange.forward import IDEMPOTENT
from tests.balancer.stage import GET, OK, PATIENCE, Conn, always, once, stage, unacknowledged, until

POST = b"POST /p HTTP/1.1\r\nHost: a.org\r\nContent-Length: 5\r\n\r\nhello"


def test_a_request_and_its_answer() -> None:
    """Method, target, field order, host, cookies and repeated fields pass unchanged both ways."""
    sent = [
        b"X-B: 2",
        b"Host: a.org",
        b"Cookie: a=1; b=2",
        b"X-A: 1",
        b"X-B: 3",
    ]
    with stage(
        always(b"HTTP/1.1 201 Made\r\nB: 1\r\nA: 2\r\nB: 3\r\nContent-Length: 2\r\n\r\nok")
    ) as s:
        answer = s.get(b"\r\n".join((b"PATCH /a%2Fb/../c?q=%20&q=+ HTTP/1.1", *sent, b"", b"")))
        (seen,) = s.worker.seen
    assert seen.start == b"PATCH /a%2Fb/../c?q=%20&q=+ HTTP/1.1"
    assert [name + b": " + value for name, value in seen.fields][:5] == sent
    assert seen.get(b"X-Forwarded-For") == b"127.0.0.1"
    assert answer.start == b"HTTP/1.1 201 Made"
    assert answer.fields[:3] == [(b"B", b"1"), (b"A", b"2"), (b"B", b"3")]
    assert answer.body == b"ok"


def test_keep_alive_on_both_sides() -> None:
    """Many requests of one client travel over one connection to the worker."""
    with stage(always()) as s, s.call() as client:
        for _ in range(20):
            client.send(GET)
            assert client.answer().body == b"ok"
        assert s.worker.accepted == 1
        until(lambda: s.total("requests") == 20)
        assert sum(next(iter(s.directory)).tally.histogram) == 20


def test_pipelined_requests_are_answered_in_order() -> None:
    """Requests that are sent in one go are answered in order, each with its own answer."""

    def echo(conn: Conn) -> None:
        while True:
            target = conn.request().start.split(b" ")[1]
            conn.send(b"HTTP/1.1 200 OK\r\nContent-Length: %d\r\n\r\n%b" % (len(target), target))

    with stage(echo) as s, s.call() as client:
        targets = [b"/%d" % number for number in range(300)]
        client.send(b"".join(b"GET %b HTTP/1.1\r\nHost: a\r\n\r\n" % target for target in targets))
        assert [client.answer().body for _ in targets] == targets


def test_pipelined_bodies_and_refusals_keep_their_order() -> None:
    """Pipelined requests with and without bodies are answered in order, and a bad one gets 400."""
    with stage(always()) as s, s.call() as client:
        client.send(GET + POST + GET + b"BAD\r\n\r\n" + GET)
        assert [client.answer().status for _ in range(4)] == [200, 200, 200, 400]
        assert client.ended()
        assert [seen.body for seen in s.worker.seen] == [b"", b"hello", b""]


def test_more_pipelined_than_a_window() -> None:
    """A client that sends far more than a window ahead is slowed down and gets every answer."""
    count = 2000
    request = b"GET / HTTP/1.1\r\nHost: a\r\nX: " + b"x" * 200 + b"\r\n\r\n"
    with stage(always()) as s, s.call() as client:
        writer = threading.Thread(target=client.send, args=(request * count,))
        writer.start()
        for _ in range(count):
            assert client.answer().body == b"ok"
        writer.join()


@pytest.mark.parametrize("status", [b"204 No Content", b"304 Not Modified"])
def test_answers_without_a_body(status: bytes) -> None:
    """Answers 204 and 304 end with their head, and both connections stay open."""
    with stage(always(b"HTTP/1.1 " + status + b"\r\nETag: x\r\n\r\n")) as s, s.call() as client:
        for _ in range(3):
            client.send(GET)
            assert client.answer().start == b"HTTP/1.1 " + status
        assert s.worker.accepted == 1


def test_head() -> None:
    """The answer to a HEAD request keeps its Content-Length and has no body."""
    with stage(always(b"HTTP/1.1 200 OK\r\nContent-Length: 99\r\n\r\n")) as s, s.call() as client:
        for _ in range(3):
            client.send(b"HEAD / HTTP/1.1\r\nHost: a\r\n\r\n")
            assert client.answer(to=b"HEAD").get(b"content-length") == b"99"
        assert s.worker.accepted == 1


def test_chunked_answer() -> None:
    """A chunked answer is framed anew and keeps its trailers, and both connections stay open."""
    answer = (
        b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\nTrailer: X-Sum\r\n\r\n"
        b"003;x=y\r\nabc\r\n2\r\nde\r\n0\r\nX-Sum: 5\r\n\r\n"
    )
    with stage(always(answer)) as s, s.call() as client:
        for _ in range(2):
            client.send(GET)
            got = client.answer()
            assert (got.body, got.trailers) == (b"abcde", [b"X-Sum: 5"])
        assert s.worker.accepted == 1


def test_chunked_answer_arrives_piece_by_piece() -> None:
    """A chunk is passed on when it arrives, not when the answer is complete."""
    go = threading.Event()

    def slow(conn: Conn) -> None:
        conn.request()
        conn.send(b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n")
        assert go.wait(PATIENCE)
        conn.send(b"3\r\ndef\r\n0\r\n\r\n")

    with stage(slow) as s, s.call() as client:
        client.send(GET)
        client.head()
        assert client.chunk() == b"abc"
        go.set()
        assert client.chunk() == b"def"
        assert client.chunk() == b""


def test_chunked_request() -> None:
    """A chunked request arrives chunked, with canonical sizes and its trailers."""
    with stage(always()) as s, s.call() as client:
        client.send(
            b"POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n"
            b"0005;ext=1\r\nhello\r\n"
        )
        client.send(b"6\r\n world\r\n0\r\nX-Sum: 11\r\n\r\n")
        assert client.answer().status == 200
        (seen,) = s.worker.seen
        assert (seen.body, seen.trailers) == (b"hello world", [b"X-Sum: 11"])
        assert b"ext" not in s.worker.bytes


def test_answer_until_close_is_chunked_for_new_clients() -> None:
    """An answer that ends with the worker's connection is chunked: the client's can stay open."""
    with stage(once(b"HTTP/1.1 200 OK\r\n\r\nall of it")) as s, s.call() as client:
        for _ in range(2):
            client.send(GET)
            got = client.answer()
            assert got.get(b"transfer-encoding") == b"chunked"
            assert got.body == b"all of it"


def test_old_client() -> None:
    """An HTTP/1.0 client gets its answer, and then its connection is closed."""
    with stage(always()) as s, s.call() as client:
        client.send(b"GET / HTTP/1.0\r\n\r\n")
        answer = client.answer()
        assert answer.get(b"connection") == b"close"
        assert answer.body == b"ok"
        assert client.ended()
        assert s.worker.seen[0].get(b"host") == b"127.0.0.1:%d" % s.port


def test_old_client_that_keeps_its_connection() -> None:
    """An HTTP/1.0 connection with keep-alive stays open when the answer has a Content-Length."""
    with stage(always()) as s, s.call() as client:
        for _ in range(3):
            client.send(b"GET / HTTP/1.0\r\nConnection: keep-alive\r\n\r\n")
            answer = client.answer()
            assert answer.get(b"connection") == b"keep-alive"


@pytest.mark.parametrize(
    "answer",
    [
        b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n3\r\ndef\r\n0\r\n\r\n",
        b"HTTP/1.1 200 OK\r\n\r\nabcdef",
    ],
)
def test_old_client_gets_no_chunks(answer: bytes) -> None:
    """Chunks are decoded for an HTTP/1.0 client, and the close ends the answer."""
    with stage(once(answer)) as s, s.call() as client:
        client.send(b"GET / HTTP/1.0\r\nConnection: keep-alive\r\n\r\n")
        got = client.answer()
        assert got.get(b"transfer-encoding") is None
        assert got.get(b"connection") == b"close"
        assert got.body == b"abcdef"


def test_interim_answers_are_relayed() -> None:
    """All 1xx answers precede the final answer; an HTTP/1.0 client gets only the final answer."""
    hints = b"HTTP/1.1 103 Early Hints\r\nLink: </a>\r\n\r\n"
    with stage(always(hints + b"HTTP/1.1 102 Processing\r\n\r\n" + OK)) as s, s.call() as client:
        client.send(GET)
        assert [client.answer().status for _ in range(3)] == [103, 102, 200]
        assert s.get(b"GET / HTTP/1.0\r\n\r\n").status == 200


def test_expect_continue() -> None:
    """The client's body follows the worker's 100 (Continue); the balancer sends none of its own."""

    def careful(conn: Conn) -> None:
        message = conn.head()
        assert message.get(b"expect") == b"100-continue"
        conn.send(b"HTTP/1.1 100 Continue\r\n\r\n")
        conn.body(message)
        conn.worker.seen.append(message)
        conn.send(OK)

    with stage(careful) as s, s.call() as client:
        client.send(
            b"POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 5\r\nExpect: 100-continue\r\n\r\n"
        )
        assert client.answer().status == 100
        client.send(b"hello")
        assert client.answer().status == 200
        assert s.worker.seen[0].body == b"hello"


def test_expectation_failed() -> None:
    """A worker's 417, which refuses the body, reaches the client, whose connection is closed."""

    def unwilling(conn: Conn) -> None:
        conn.head()
        conn.send(b"HTTP/1.1 417 No\r\nContent-Length: 0\r\n\r\n")

    with stage(unwilling) as s, s.call() as client:
        client.send(
            b"POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 5\r\nExpect: 100-continue\r\n\r\n"
        )
        answer = client.answer()
        assert (answer.status, answer.get(b"connection")) == (417, b"close")
        assert client.ended()


def early(conn: Conn) -> None:
    """A worker that answers as soon as it has the head, and closes with the body unread."""
    conn.head()
    conn.send(b"HTTP/1.1 413 Too Much\r\nContent-Length: 4\r\n\r\nstop")


@pytest.mark.parametrize("size", [1 << 16, 1 << 24])
def test_early_answer_reaches_a_client_that_is_still_sending(size: int) -> None:
    """A client that sends its whole body before it reads still gets the worker's early answer."""
    with stage(early) as s, s.call() as client:
        client.send(b"PUT / HTTP/1.1\r\nHost: a\r\nContent-Length: %d\r\n\r\n" % size)
        client.send(b"x" * size)
        answer = client.answer()
        assert (answer.status, answer.body) == (413, b"stop")


def test_early_answer_reaches_a_client_that_reads_late() -> None:
    """Once the worker has answered and closed, the balancer reads and discards the rest of the
    body: otherwise the client would wait for the balancer to read, and the balancer for the
    client."""
    body = b"y" * 100_000

    def play(conn: Conn) -> None:
        conn.head()
        conn.send(b"HTTP/1.1 200 OK\r\nContent-Length: %d\r\n\r\n" % len(body) + body)
        until(lambda: unacknowledged(conn.sock) == 0)
        conn.sock.recv(1, socket.MSG_PEEK)

    size = 1 << 24
    with stage(play, send_buffer=4096) as s, s.call(receive_buffer=4096) as client:
        client.send(b"POST / HTTP/1.1\r\nHost: a\r\nContent-Length: %d\r\n\r\n" % size)
        client.send(b"x" * size)
        assert client.answer().body == body


def test_early_answer_that_is_found_after_the_connection_broke() -> None:
    """The answer that the worker sent before it closed is read even after sending has failed."""
    body = b"y" * 40_000  # fits into a receive window: the loop is frozen meanwhile
    go, gone = threading.Event(), threading.Event()

    def play(conn: Conn) -> None:
        conn.until(b"abc")
        conn.sock.recv(1, socket.MSG_PEEK)
        assert go.wait(PATIENCE)
        conn.send(b"HTTP/1.1 200 OK\r\nContent-Length: %d\r\n\r\n" % len(body) + body)
        until(lambda: unacknowledged(conn.sock) == 0)
        conn.sock.close()
        gone.set()

    size = 1 << 24
    with stage(play, send_buffer=4096) as s, s.call(receive_buffer=4096) as client:
        client.send(b"POST / HTTP/1.1\r\nHost: a\r\nContent-Length: %d\r\n\r\nabc" % size)
        until(lambda: b"abc" in s.worker.bytes)
        client.send(b"def")
        with s.frozen():
            client.send(b"ghi")
            go.set()
            assert gone.wait(PATIENCE)
        client.send(b"x" * (size - 9))
        assert client.answer().body == body


def test_a_connection_with_half_a_request_is_not_used_again() -> None:
    """A worker that answered early still expects the body: its connection gets no other request."""

    def patient(conn: Conn) -> None:
        conn.head()
        conn.send(OK)
        conn.rest()

    with stage(patient) as s, s.call() as client:
        client.send(b"POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 100\r\n\r\nabc")
        assert client.answer().status == 200
        assert s.get().status == 200
        assert s.worker.accepted == 2


def test_early_answer_ends_the_connection() -> None:
    """After an early answer the start of the next request is unknown: the connection is closed."""
    with stage(early) as s, s.call() as client:
        client.send(b"PUT / HTTP/1.1\r\nHost: a\r\nContent-Length: 9\r\n\r\n")
        assert client.answer().get(b"connection") == b"close"
        client.send(b"x" * 9 + GET)
        assert client.ended()


def test_answer_while_the_body_is_still_coming() -> None:
    """An answer can flow to the client while the request body still flows to the worker."""

    def both(conn: Conn) -> None:
        message = conn.head()
        conn.send(b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n")
        for _ in range(int(message.get(b"content-length") or 0)):
            conn.send(b"1\r\n" + conn.exactly(1).upper() + b"\r\n")
        conn.send(b"0\r\n\r\n")

    with stage(both) as s, s.call() as client:
        client.send(b"POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 3\r\n\r\n")
        client.head()
        for letter in (b"a", b"b", b"c"):
            client.send(letter)
            assert client.chunk() == letter.upper()
        assert client.chunk() == b""


MALFORMED = {
    "garbage": b"220 hello\r\n\r\n",
    "bare LF": b"HTTP/1.1 200 OK\nContent-Length: 0\n\n",
    "bad field": b"HTTP/1.1 200 OK\r\nA b\r\n\r\n",
    "two lengths": b"HTTP/1.1 200 OK\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\nxx",
    "both framings": (
        b"HTTP/1.1 200 OK\r\nContent-Length: 1\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n"
    ),
    "bad chunk in the first piece": (
        b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n"
    ),
    "too long": b"HTTP/1.1 200 OK\r\nA: " + b"x" * 40_000 + b"\r\n\r\n",
    "cut head": b"HTTP/1.1 200 OK\r\nContent-Le",
    "nothing": b"",
}


@pytest.mark.parametrize("answer", MALFORMED.values(), ids=MALFORMED.keys())
def test_malformed_answers(answer: bytes) -> None:
    """A malformed answer becomes a 502 and counts as a failure of the worker."""
    with stage(once(answer), retries=0) as s, s.call() as client:
        client.send(GET)
        assert client.answer().status == 502
        until(lambda: s.total("failures") == 1)
        client.send(GET)
        assert client.answer().status == 502


def test_the_words_of_a_malformed_answer_go_to_the_log(caplog: pytest.LogCaptureFixture) -> None:
    """The client is told only that the answer is malformed; the answer's text goes to the log."""
    with stage(once(b"HTTP/1.1 secret\r\n\r\n"), retries=0) as s:
        assert s.get().body == b"502 Bad Gateway: the worker's answer is malformed\n"
    assert "secret" in caplog.text


def test_a_worker_that_accepts_and_closes() -> None:
    """The 502 for a worker that closes unanswered says that the worker accepted the request."""
    with stage(once(b""), retries=0) as s:
        body = s.get().body
        assert body == b"502 Bad Gateway: a worker accepted the request and closed unanswered\n"


def test_bytes_behind_an_answer() -> None:
    """A worker that sends bytes after its answer loses its connection, and no client gets them."""
    with stage(always(OK + b"HTTP/1.1 200 OK\r\n")) as s, s.call() as client:
        for number in range(1, 4):
            client.send(GET)
            assert client.answer().body == b"ok"
            assert s.worker.accepted == number


CUT = {
    "length": b"HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\nabc",
    "chunked": b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n",
    "bad chunk later": (b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n"),
}


@pytest.mark.parametrize(("kind", "answer"), CUT.items(), ids=CUT.keys())
def test_cut_answers_are_seen_to_be_cut(kind: str, answer: bytes) -> None:
    """When a worker closes or sends a bad chunk within its answer, the client sees a cut answer."""
    go = threading.Event()

    def play(conn: Conn) -> None:
        conn.request()
        conn.send(answer)
        assert go.wait(PATIENCE)
        if kind == "bad chunk later":
            conn.send(b"zz\r\n")

    with stage(play) as s, s.call() as client:
        client.send(GET)
        client.until(b"abc")
        go.set()
        rest = client.rest()
        assert b"0\r\n\r\n" not in rest
        until(lambda: s.total("failures") == 1)


def test_cut_endless_answer_of_an_old_client_is_reset() -> None:
    """The close ends an answer in HTTP/1.0, so a cut answer is marked by a reset instead."""
    go = threading.Event()

    def play(conn: Conn) -> None:
        conn.request()
        conn.send(b"HTTP/1.1 200 OK\r\n\r\nabc")
        assert go.wait(PATIENCE)
        conn.reset()

    with stage(play) as s, s.call() as client:
        client.send(b"GET / HTTP/1.0\r\n\r\n")
        client.until(b"abc")
        go.set()
        with pytest.raises(ConnectionResetError):
            client.rest()
        until(lambda: s.total("failures") == 1)


# Retries


def test_a_refused_connection_is_tried_elsewhere() -> None:
    """A refused connection fails a try, not the request: even a POST goes to another worker."""
    with stage(always(), always()) as s:
        s.workers[0].refuse()
        for _ in range(10):
            assert s.get(POST).status == 200
        assert len(s.workers[1].seen) == 10
        assert s.total("failures") > 0


def test_no_worker_can_be_reached() -> None:
    """When all tries fail, the client gets a 502 and its connection stays open."""
    with stage(always(), always(), always()) as s, s.call() as client:
        for worker in s.workers:
            worker.refuse()
        client.send(GET)
        assert client.answer().status == 502
        client.send(GET)
        assert client.answer().status == 502
        assert s.total("failures") == 6  # two requests with three tries each


def drop(conn: Conn) -> None:
    """A worker that reads a whole request and closes without an answer."""
    conn.request()


@pytest.mark.parametrize("method", sorted(IDEMPOTENT - {b"HEAD"}))
def test_idempotent_requests_are_repeated(method: bytes) -> None:
    """An idempotent request that got no answer is sent to another worker."""
    request = method + b" / HTTP/1.1\r\nHost: a\r\nContent-Length: 5\r\n\r\nhello"
    with stage(drop, always()) as s:
        for _ in range(4):
            assert s.get(request).status == 200
        assert s.workers[0].seen
        assert all(seen.body == b"hello" for seen in s.workers[1].seen)
        assert len(s.workers[1].seen) == 4


@pytest.mark.parametrize("method", [b"POST", b"PATCH", b"LOCK"])
def test_other_requests_are_never_repeated(method: bytes) -> None:
    """A request that is not idempotent, and may have been carried out, is not sent twice."""
    request = method + b" / HTTP/1.1\r\nHost: a\r\nContent-Length: 5\r\n\r\nhello"
    with stage(drop, drop, drop) as s:
        for number in range(1, 6):
            assert s.get(request).status == 502
            assert sum(len(worker.seen) for worker in s.workers) == number


def test_at_most_so_many_retries() -> None:
    """With two retries a request is tried three times, each time on another worker."""
    with stage(drop, drop, drop, drop, retries=2) as s:
        assert s.get().status == 502
        assert sorted(len(worker.seen) for worker in s.workers) == [0, 1, 1, 1]


def test_no_retry_once_something_was_answered() -> None:
    """A request is not retried once a part of an answer has come."""
    with stage(once(b"HTTP/1.1 2"), once(b"HTTP/1.1 2")) as s:
        assert s.get().status == 502
        assert sum(len(worker.seen) for worker in s.workers) == 1


def test_a_long_body_is_not_repeated() -> None:
    """A PUT is not retried when its body is too long for the balancer to have kept."""

    def drop_late(conn: Conn) -> None:
        message = conn.head()
        conn.exactly(int(message.get(b"content-length") or 0))
        conn.worker.seen.append(message)

    with stage(drop_late, drop_late) as s:
        size = 300_000
        request = b"PUT / HTTP/1.1\r\nHost: a\r\nContent-Length: %d\r\n\r\n" % size + b"x" * size
        assert s.get(request).status == 502
        assert sum(len(worker.seen) for worker in s.workers) == 1


def close_second(conn: Conn) -> None:
    """A worker that answers the first request of a connection and resets it at the second."""
    conn.request()
    conn.send(OK)
    conn.request()
    conn.reset()


def test_a_dead_idle_connection_does_not_cost_the_only_worker() -> None:
    """An idempotent request on a stale connection is repeated on a fresh one."""
    with stage(close_second) as s, s.call() as client:
        for _ in range(6):
            client.send(GET)
            assert client.answer().body == b"ok"


def test_a_retry_takes_a_fresh_connection() -> None:
    """A worker's restart kills all idle connections, so a retry opens a new one."""
    with stage(close_second, close_second, retries=1) as s:
        clients = [s.call() for _ in range(6)]
        for _ in range(2):  # six connections are busy at once, then all of them are idle
            for client in clients:
                client.send(GET)
            for client in clients:
                assert client.answer().body == b"ok"
        for client in clients:
            client.sock.close()


def test_no_worker_at_all() -> None:
    """Without any worker the answer is an immediate 503 with Retry-After."""
    with stage() as s, s.call() as client:
        for _ in range(2):
            client.send(POST)
            answer = client.answer()
            assert answer.status == 503
            assert answer.get(b"retry-after") == b"1"
        assert s.plane.pool.refused == 2


# Clients that leave


def test_client_resets_while_it_waits() -> None:
    """When a client resets while it waits, the connection to the worker is closed too."""
    ended = threading.Event()

    def play(conn: Conn) -> None:
        conn.request()
        conn.worker.play = always()
        assert conn.ended()
        ended.set()

    with stage(play) as s:
        client = s.call()
        client.send(GET)
        until(lambda: len(s.worker.seen) == 1)
        client.reset()
        assert ended.wait(PATIENCE)
        until(lambda: s.inflight() == 0)
        assert s.total("failures") == 0
        assert s.get().status == 200


def test_client_leaves_within_the_answer() -> None:
    """When a client closes within its answer, the connection to the worker is closed too."""
    ended = threading.Event()

    def play(conn: Conn) -> None:
        conn.request()
        conn.send(b"HTTP/1.1 200 OK\r\nContent-Length: 100000000\r\n\r\n")
        try:
            while True:
                conn.send(b"x" * 65536)
        except ConnectionError:
            ended.set()

    with stage(play) as s:
        with s.call() as client:
            client.send(GET)
            client.exactly(100_000)
        assert ended.wait(PATIENCE)
        until(lambda: s.inflight() == 0)


def test_client_leaves_within_its_body() -> None:
    """When a client closes within its body, the connection to the worker is closed too."""
    ended = threading.Event()

    def play(conn: Conn) -> None:
        conn.until(b"abc")
        assert conn.ended()
        ended.set()

    with stage(play) as s:
        with s.call() as client:
            client.send(b"POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 100\r\n\r\nabc")
            until(lambda: b"abc" in s.worker.bytes)
        assert ended.wait(PATIENCE)
        until(lambda: s.inflight() == 0)


def test_half_closed_client_gets_its_answer() -> None:
    """A client that has closed its sending side still gets its answers."""
    go = threading.Event()

    def play(conn: Conn) -> None:
        while True:
            conn.request()
            assert go.wait(PATIENCE)
            conn.send(OK)

    with stage(play) as s, s.call() as client:
        client.send(GET + GET)
        client.sock.shutdown(1)
        until(lambda: len(s.worker.seen) == 1)
        go.set()
        assert client.answer().body == b"ok"
        assert client.answer().body == b"ok"
        assert client.ended()


# Requests that the balancer answers itself


@pytest.mark.parametrize("target", [b"/", b"*"])
def test_an_options_that_may_not_be_forwarded(target: bytes) -> None:
    """The balancer answers an OPTIONS with Max-Forwards: 0, and the connection stays open."""
    ask = b"OPTIONS " + target + b" HTTP/1.1\r\nHost: a\r\nMax-Forwards: 0\r\n\r\n"
    with stage(always()) as s, s.call() as client:
        client.send(ask + GET)
        answer = client.answer()
        assert answer.status == 200
        assert answer.get(b"allow") == b"GET, HEAD, POST, PUT, DELETE, OPTIONS, PATCH"
        assert answer.get(b"content-length") == b"0"
        assert client.answer().get(b"via") is not None
        assert [request.start for request in s.worker.seen] == [b"GET / HTTP/1.1"]
        assert s.plane.front.own == {200: 1}


def test_an_options_for_us_with_a_body() -> None:
    """An OPTIONS with a body is answered at once and the connection closed: a body may follow."""
    with stage(always()) as s, s.call() as client:
        client.send(
            b"OPTIONS / HTTP/1.1\r\nHost: a\r\nMax-Forwards: 0\r\nContent-Length: 9\r\n\r\n"
        )
        answer = client.answer()
        assert (answer.status, answer.get(b"connection")) == (200, b"close")
        assert client.ended()
        assert s.worker.accepted == 0


def test_a_trace_that_may_not_be_forwarded() -> None:
    """A TRACE with Max-Forwards: 0 is refused: its echo would show fields that proxies added."""
    with stage(always()) as s, s.call() as client:
        client.send(b"TRACE / HTTP/1.1\r\nHost: a\r\nCookie: x\r\nMax-Forwards: 0\r\n\r\n")
        answer = client.answer()
        assert answer.status == 501
        assert b"Cookie" not in answer.body
        assert s.worker.accepted == 0


# Dates


@pytest.mark.parametrize("status", [b"200 OK", b"204 No", b"304 Same", b"404 Nope", b"500 Oh"])
def test_an_answer_without_a_date_gets_one(status: bytes) -> None:
    """An answer of any status without a Date gets the current time."""
    reply = b"HTTP/1.1 " + status + b"\r\nContent-Length: 0\r\n\r\n"
    with stage(always(reply)) as s:
        date = s.get().get(b"date")
    assert date is not None
    assert abs(parsedate_to_datetime(date.decode()).timestamp() - time.time()) < PATIENCE


def test_interim_answers_get_no_date() -> None:
    """Only the final answer gets a Date."""
    hint = b"HTTP/1.1 103 Early Hints\r\nLink: </a>\r\n\r\n"
    with stage(always(hint + OK)) as s, s.call() as client:
        client.send(GET)
        assert client.until(b"\r\n\r\n") == hint
        assert client.answer().get(b"date") is not None
