"""Tests of which requests the access log notes, and of what the notes say."""

from __future__ import annotations

import json
import socket
import threading

import pytest

from steelyard.balancer.control.access_log_writer import as_json
from steelyard.balancer.exchange import access_log
from steelyard.balancer.exchange.access_log import COMPLETE, AccessLog, Note
from tests.balancer.exchange.test_tunnel import ASK, SWITCH
from tests.balancer.stage import GET, OK, PATIENCE, Conn, Stage, always, once, stage, until

NOTE = Note(1.0, 2.0, b"192.0.2.7", None, 400, 0, "", COMPLETE)


def test_a_full_journal_drops_and_counts() -> None:
    """A full log drops the newest notes, so that the notes kept have no gap in the middle."""
    full = AccessLog()
    for number in range(access_log.MOST + 3):
        full.note(NOTE._replace(status=number))
    assert full.dropped == 3
    assert [note.status for note in full.take(2)] == [0, 1]
    assert len(full.take(10 * access_log.MOST)) == access_log.MOST - 2
    assert full.take(1) == []


def noted(s: Stage, count: int = 1) -> list[Note]:
    """Wait for `count` notes, and check that there are no more."""
    notes: list[Note] = []

    def enough() -> bool:
        assert s.plane.front.access_log is not None
        notes.extend(s.plane.front.access_log.take(100))
        return len(notes) >= count

    until(enough)
    assert len(notes) == count
    return notes


def outcome(note: Note) -> tuple[int, int, str, str]:
    return note.status, note.size, note.worker, note.outcome


def test_answers() -> None:
    """A request is noted with its answer's status and the size of its body."""
    chunked = b"HTTP/1.1 404 No\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nok\r\n0\r\n\r\n"
    for answer, status, size in ((OK, 200, 2), (chunked, 404, 12)):
        with stage(always(answer), access_log="-") as s, s.call() as client:
            client.send(GET + GET)
            assert [client.answer().status for _ in range(2)] == [status] * 2
            for note in noted(s, 2):
                assert outcome(note) == (status, size, "w0", "complete")
                assert note.peer == b"127.0.0.1"
                assert note.head is not None
                assert (note.head.method, note.head.target) == (b"GET", b"/")
                assert note.ended >= note.began


def test_refusals() -> None:
    """The balancer's own answers are noted too, whether or not the request's head could be read."""
    with stage(access_log="-") as s:
        for request, status in ((GET, 503), (b"nonsense\r\n\r\n", 400)):
            size = len(s.get(request).body)
            (note,) = noted(s)
            assert outcome(note) == (status, size, "", "refused")
            assert (note.head is None) is (status == 400)


def test_a_cut_answer() -> None:
    """A cut answer is noted with the bytes of its body that came."""
    with stage(once(OK[:-1]), access_log="-") as s, s.call() as client:
        client.send(GET)
        assert client.rest().endswith(b"\r\n\r\no")
        assert outcome(noted(s)[0]) == (200, 1, "w0", "cut")


def test_a_client_that_went() -> None:
    """A request whose client resets before the answer is noted as 499, cancelled."""
    with stage(lambda conn: conn.rest() and None, access_log="-") as s, s.call() as client:
        client.send(GET)
        until(lambda: GET[:5] in s.worker.bytes)
        client.reset()
        assert outcome(noted(s)[0]) == (499, 0, "w0", "cancelled")


def test_a_tunnel() -> None:
    """A tunnel is noted when it begins, and not again when it ends."""
    with stage(once(SWITCH), access_log="-") as s, s.call() as client:
        client.send(ASK)
        assert client.head().status == 101
        client.sock.shutdown(socket.SHUT_WR)
        assert client.rest() == b""
        (note,) = noted(s)
        assert (note.status, note.worker, note.outcome) == (101, "w0", "switched")


def test_nothing_is_noted_without_a_log() -> None:
    """Without an access log in the settings the balancer keeps no notes."""
    with stage(always()) as s:
        s.get()
        assert s.plane.front.access_log is None


def test_a_request_is_noted_once() -> None:
    """A request is noted when it ends, and not when it is read or retried."""
    go = threading.Event()

    def slow(conn: Conn) -> None:
        conn.request()
        assert go.wait(PATIENCE)
        conn.send(OK)

    with stage(lambda conn: conn.reset(), slow, access_log="-") as s, s.call() as client:
        client.send(GET)
        until(lambda: len(s.workers[1].seen) == 1)
        assert s.plane.front.access_log is not None
        assert s.plane.front.access_log.take(1) == []
        go.set()
        assert client.answer().status == 200
        assert outcome(noted(s)[0]) == (200, 2, "w1", "complete")


LONG = b"GET /long HTTP/1.1\r\nHost: a.org\r\nX: "
REFUSALS = {
    "head too large": (431, LONG + b"a" * 2000),
    "too many fields": (431, b"GET /long HTTP/1.1\r\nHost: a.org" + b"\r\nA: b" * 60 + b"\r\n\r\n"),
    "body too large": (413, b"GET /long HTTP/1.1\r\nHost: a.org\r\nContent-Length: 99\r\n\r\n"),
    "head too slow": (408, b"GET /long HTTP/1.1\r\nHost: a.org\r\nUser-"),
    "no such version": (505, b"GET /long HTTP/2.0\r\nHost: a.org\r\n\r\n"),
    "bad field": (400, b"GET /long HTTP/1.1\r\nHost: a.org\r\nA b: c\r\n\r\n"),
    "bad Max-Forwards": (400, b"OPTIONS /long HTTP/1.1\r\nHost: a.org\r\nMax-Forwards: x\r\n\r\n"),
    "no worker": (503, b"GET /long HTTP/1.1\r\nHost: a.org\r\n\r\n"),
}  # fmt: skip


@pytest.mark.parametrize(("status", "data"), REFUSALS.values(), ids=REFUSALS)
def test_a_refused_request_has_a_name(status: int, data: bytes) -> None:
    """Method, host, target and id of a refused request are noted, and its answer has that id."""
    limits = {"head": 1024, "fields": 50, "body": 10, "head_timeout": 0.5}
    with stage(access_log="-", **limits) as s, s.call() as client:
        client.send(data)
        answer = client.answer()
        assert answer.status == status
        (note,) = noted(s)
    assert note.head is not None
    assert (note.status, note.outcome) == (status, "refused")
    assert note.head.method == data.split(b" ")[0]
    assert (note.head.host, note.head.target) == (b"a.org", b"/long")
    assert note.head.request_id == answer.get(b"x-request-id") != b""
    line = json.loads(as_json(note, 0.0))
    assert (line["target"], line["protocol"]) == ("/long", data.split()[2].decode())


def test_a_malformed_request_line_has_none() -> None:
    """The note of a request whose request line is malformed has no head."""
    with stage(access_log="-") as s, s.call() as client:
        client.send(b"GET /a b HTTP/1.1\r\nHost: a.org\r\n\r\n")
        assert client.answer().status == 400
        (note,) = noted(s)
    assert note.head is None


def test_a_proxy_gives_a_refused_request_its_id() -> None:
    """The id that a trusted proxy gave a request is kept when the request is refused."""
    with stage(access_log="-", body=1, trusted_proxies=("127.0.0.0/8",)) as s, s.call() as client:
        client.send(b"PUT / HTTP/1.1\r\nHost: a\r\nX-Request-ID: mine\r\nContent-Length: 2\r\n\r\n")
        assert client.answer().get(b"x-request-id") == b"mine"
        (note,) = noted(s)
    assert note.head is not None
    assert note.head.request_id == b"mine"
