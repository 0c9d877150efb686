"""Every case of the tables, through the parser, and through a real plane with a real worker."""

from __future__ import annotations

import re
import socket
from collections import Counter
from collections.abc import Iterator

import pytest

from steelyard.balancer.http.fields import BadMessageError
from steelyard.balancer.http.framing import ChunkedBody
from tests.balancer import reading
from tests.balancer.cases import CASES, CHUNKS, REPLIES, REQUESTS
from tests.balancer.cases.case import CHUNKED, Chunks, Reply, Request, Seen, head, post
from tests.balancer.reading import end_to_end, pairs
from tests.balancer.stage import OK, Conn, Message, Stage, Wire, always, stage, until

pytestmark = pytest.mark.xdist_group("cases")  # the tests share a plane

SENTINEL = b"GET /sentinel HTTP/1.1\r\nHost: a.org\r\n\r\n"


def each(cases):
    """Parametrize a test by these cases, with their names as ids."""
    return pytest.mark.parametrize("case", cases.values(), ids=cases.keys())


def wire(data: bytes) -> Wire:
    """A reader of these bytes that is independent of the balancer's reader."""
    ours, theirs = socket.socketpair()
    with ours:
        ours.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, 1 << 20)
        ours.sendall(data)
    return Wire(theirs)


def matches(message: Message, seen: Seen) -> None:
    """Check that a worker got the request that it should see."""
    assert message.start == seen.line
    assert end_to_end(message.fields) == end_to_end(pairs(seen.lines))
    # RFC 9110, 7.6.3: the balancer's own entry is the last.
    assert message.all(b"via")[:-1] == [
        value for name, value in pairs(seen.lines) if name == b"via"
    ]
    assert message.body == seen.body
    assert message.trailers == list(seen.trailers)


# The tables themselves


def test_there_are_enough_cases() -> None:
    """There are at least 250 cases, with accepted and refused messages in both directions."""
    assert len(CASES) >= 250
    good = [case for case in REQUESTS.values() if not case.status]
    bad = [case for case in REQUESTS.values() if case.status]
    assert min(map(len, (good, bad, CHUNKS, REPLIES))) >= 50


@each(CASES)
def test_a_case_names_its_section_and_its_reason(case: Request | Chunks | Reply) -> None:
    """Each case names an RFC with a section, and gives its reason in a sentence."""
    assert re.fullmatch(r"RFC \d{4}, \d+(\.\d+)*", case.section)
    assert case.why.endswith((".", "?"))


def test_no_two_cases_are_the_same() -> None:
    """No two cases have the same bytes."""
    keys = Counter((type(case), case.raw, getattr(case, "to", b"")) for case in CASES.values())
    assert [key for key, count in keys.items() if count > 1] == []


# Cases through the parser


@each(REQUESTS)
def test_requests_are_read(case: Request) -> None:
    """The parser's output for the worker, and the status of a refusal, are those of the case."""
    read = reading.requests([case.raw])
    assert read.status == case.status
    assert len(read.taken) == len(case.seen)
    for taken, seen in zip(read.taken, case.seen, strict=True):
        assert taken.done
        with wire(taken.out) as reader:
            matches(reader.message(), seen)
            assert reader.ended()


@each(CHUNKS)
def test_chunks_are_read(case: Chunks) -> None:
    """Chunks are joined, or refused with the case's status."""
    body = ChunkedBody()
    if case.status:
        with pytest.raises(BadMessageError) as caught:
            body.feed(case.raw)
        assert caught.value.status == case.status
        return
    assert body.feed(case.raw + b"NEXT") == case.body
    assert (body.done, body.rest) == (True, b"NEXT")
    assert body.trailers() == list(case.trailers)


@each(REPLIES)
def test_answers_are_read(case: Reply) -> None:
    """The parser's output for the client is what the case says, or the answer is refused."""
    request = head(case.to + b" / HTTP/1.1", b"Host: a.org")[:-4]
    relay = reading.answer([case.raw] if case.raw else [], request)
    assert relay.refused == case.refused
    if not case.refused:
        with wire(relay.out) as client:
            told(client, case)
            assert client.ended()


def told(client: Wire, case: Reply) -> None:
    """Check that a client gets the answer that it should see."""
    for interim in case.interim:
        assert client.until(b"\r\n\r\n") == interim
    message = client.answer(to=case.to)
    assert message.start == case.start
    if not case.refused:
        assert end_to_end(message.fields) == end_to_end(pairs(case.lines))
        assert message.body == case.body
        assert message.trailers == list(case.trailers)


# Cases through a plane


@pytest.fixture(scope="module")
def plane() -> Iterator[Stage]:
    """One plane and one worker for all requests."""
    with stage(always()) as s:
        yield s


def as_request(chunks: Chunks) -> Request:
    """A request with this chunked body."""
    seen = Seen(b"POST / HTTP/1.1", (b"Host: a.org",), chunks.body, chunks.trailers)
    raw = post(CHUNKED, body=chunks.raw)
    sees = () if chunks.status else (seen,)
    return Request(chunks.name, chunks.section, chunks.why, raw, sees, chunks.status)


ALL_REQUESTS = REQUESTS | {f"in a request: {n}": as_request(c) for n, c in CHUNKS.items()}
REFUSED = {name: case for name, case in ALL_REQUESTS.items() if not case.seen}
ACCEPTED = {name: case for name, case in ALL_REQUESTS.items() if case.seen}


@each(REFUSED)
def test_not_a_byte_of_a_refused_request_reaches_the_worker(plane: Stage, case: Request) -> None:
    """A refused request gets its status and a close, and the worker sees only the next client."""
    before = len(plane.worker.bytes)
    with plane.call() as client:
        client.send(case.raw)
        assert client.answer().status == case.status
        assert client.ended()
    assert plane.get(SENTINEL).status == 200
    arrived = plane.worker.bytes[before:]
    assert arrived.startswith(b"GET /sentinel HTTP/1.1\r\n")
    assert arrived.count(b"\r\n\r\n") == 1


@each(ACCEPTED)
def test_accepted_requests_arrive(plane: Stage, case: Request) -> None:
    """The worker sees exactly the requests of the case, and a refusal follows where it should."""
    before = len(plane.worker.seen)
    with plane.call() as client:
        client.send(case.raw)
        for seen in case.seen:
            method = seen.line.split(b" ")[0]
            assert client.answer(to=method).status == 200
        if case.status:
            assert client.answer().status == case.status
            assert client.ended()
    until(lambda: plane.inflight() == 0)
    arrived = plane.worker.seen[before:]
    assert len(arrived) == len(case.seen)
    for message, seen in zip(arrived, case.seen, strict=True):
        matches(message, seen)


def as_reply(chunks: Chunks) -> Reply:
    """An answer with this chunked body."""
    raw = head(b"HTTP/1.1 200 OK", CHUNKED) + chunks.raw
    start = Reply.start if chunks.status else b"HTTP/1.1 200 OK"
    name, section, why = chunks.name, chunks.section, chunks.why
    return Reply(name, section, why, raw, start, (), chunks.body, chunks.trailers)


ALL_REPLIES = REPLIES | {f"in an answer: {n}": as_reply(c) for n, c in CHUNKS.items()}


@pytest.fixture(scope="module")
def prompter() -> Iterator[Stage]:
    """A plane whose worker answers with the case whose number is the target."""
    replies = list(ALL_REPLIES.values())

    def play(conn: Conn) -> None:
        number = int(conn.request().start.split(b" ")[1][1:])
        conn.send(replies[number].raw if number < len(replies) else OK)

    # One retry is needed: the worker closes after each answer, so an idle connection may have
    # ended.
    with stage(play, retries=1) as s:
        yield s


@pytest.mark.parametrize(
    ("number", "case"), list(enumerate(ALL_REPLIES.values())), ids=ALL_REPLIES.keys()
)
def test_answers_arrive(prompter: Stage, number: int, case: Reply) -> None:
    """The client sees the case's answer, or a 502 in its place."""
    with prompter.call() as client:
        client.send(head(b"%b /%d HTTP/1.1" % (case.to, number), b"Host: a.org"))
        told(client, case)
