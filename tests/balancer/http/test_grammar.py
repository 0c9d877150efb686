"""Tests of which heads are read, and which are refused."""

from __future__ import annotations

import itertools

import pytest
from hypothesis import given
from hypothesis import strategies as st

from steelyard.balancer.http.fields import BadMessageError
from steelyard.balancer.http.grammar import Reader, find_end
from tests.balancer.reading import answer_head, request_head

HOST = b"Host: example.org"


def request(line: bytes, *fields: bytes) -> bytes:
    """A head without its empty line."""
    return b"\r\n".join((line, *fields))


GOOD = {
    "plain": request(b"GET / HTTP/1.1", HOST),
    "query kept": request(b'GET /a%20b?x=[1]|{2}&y="z" HTTP/1.1', HOST),
    "odd but legal method": request(b"M-SEARCH! / HTTP/1.1", HOST),
    "lower-case field names": request(b"GET / HTTP/1.1", b"host: example.org"),
    "strange case": request(b"GET / HTTP/1.1", b"hOsT: example.org"),
    "no space after the colon": request(b"GET / HTTP/1.1", b"Host:example.org"),
    "tabs around a value": request(b"GET / HTTP/1.1", b"Host:\t example.org \t"),
    "port": request(b"GET / HTTP/1.1", b"Host: example.org:8080"),
    "IPv6 host": request(b"GET / HTTP/1.1", b"Host: [::1]:8080"),
    "empty value": request(b"GET / HTTP/1.1", HOST, b"X-Empty:"),
    "obs-text in a value": request(b"GET / HTTP/1.1", HOST, b"X-Name: J\xfcrgen"),
    "tab in a value": request(b"GET / HTTP/1.1", HOST, b"X-Tab: a\tb"),
    "HTTP/1.0 without Host": request(b"GET / HTTP/1.0"),
    "asterisk": request(b"OPTIONS * HTTP/1.1", HOST),
    "absolute form": request(b"GET http://other.org/x HTTP/1.1", HOST),
    "absolute form, scheme in capitals": request(b"GET HTTP://other.org/x HTTP/1.1", HOST),
    "length": request(b"POST / HTTP/1.1", HOST, b"Content-Length: 0"),
    "length with zeros": request(b"POST / HTTP/1.1", HOST, b"Content-Length: 007"),
    "chunked": request(b"POST / HTTP/1.1", HOST, b"Transfer-Encoding: Chunked"),
}

BAD: dict[str, tuple[int, bytes]] = {
    "nothing": (400, b""),
    "one word": (400, b"GET"),
    "HTTP/0.9": (400, b"GET /"),
    "two spaces": (400, request(b"GET  / HTTP/1.1", HOST)),
    "two spaces before the version": (400, request(b"GET /  HTTP/1.1", HOST)),
    "trailing space": (400, request(b"GET / HTTP/1.1 ", HOST)),
    "leading space": (400, request(b" GET / HTTP/1.1", HOST)),
    "tab for space": (400, request(b"GET\t/ HTTP/1.1", HOST)),
    "no method": (400, request(b" / HTTP/1.1", HOST)),
    "method with a colon": (400, request(b"GE:T / HTTP/1.1", HOST)),
    "method beyond ASCII": (400, request(b"G\xcbT / HTTP/1.1", HOST)),
    "space in the target": (400, request(b"GET /a b HTTP/1.1", HOST)),
    "target beyond ASCII": (400, request(b"GET /\xe9 HTTP/1.1", HOST)),
    "fragment": (400, request(b"GET /a#b HTTP/1.1", HOST)),
    "relative target": (400, request(b"GET a HTTP/1.1", HOST)),
    "asterisk for GET": (400, request(b"GET * HTTP/1.1", HOST)),
    "authority form": (400, request(b"GET example.org:80 HTTP/1.1", HOST)),
    "https target": (400, request(b"GET https://example.org/ HTTP/1.1", HOST)),
    "user in the target": (400, request(b"GET http://me@example.org/ HTTP/1.1", HOST)),
    "no host in the target": (400, request(b"GET http:///x HTTP/1.1", HOST)),
    "absolute form without Host": (400, request(b"GET http://example.org/ HTTP/1.1")),
    "CONNECT": (501, request(b"CONNECT example.org:80 HTTP/1.1", HOST)),
    "CONNECT to a path": (501, request(b"CONNECT / HTTP/1.1", HOST)),
    "lower-case version": (400, request(b"GET / http/1.1", HOST)),
    "version 1.10": (400, request(b"GET / HTTP/1.10", HOST)),
    "version 1,1": (400, request(b"GET / HTTP/1,1", HOST)),
    "version 2.0": (505, request(b"GET / HTTP/2.0", HOST)),
    "version 1.2": (505, request(b"GET / HTTP/1.2", HOST)),
    "no Host": (400, request(b"GET / HTTP/1.1", b"Accept: */*")),
    "two Hosts": (400, request(b"GET / HTTP/1.1", HOST, HOST)),
    "empty Host": (400, request(b"GET / HTTP/1.1", b"Host: ")),
    "two hosts in one": (400, request(b"GET / HTTP/1.1", b"Host: a, b")),
    "Host with a path": (400, request(b"GET / HTTP/1.1", b"Host: a/b")),
    "Host with a user": (400, request(b"GET / HTTP/1.1", b"Host: me@a")),
    "Host with a bad port": (400, request(b"GET / HTTP/1.1", b"Host: a:b")),
    "bad Host in HTTP/1.0": (400, request(b"GET / HTTP/1.0", b"Host: a b")),
    "bare LF": (400, b"GET / HTTP/1.1\nHost: example.org"),
    "bare LF in a value": (400, request(b"GET / HTTP/1.1", HOST, b"X: a\nY: b")),
    "bare CR in a value": (400, request(b"GET / HTTP/1.1", HOST, b"X: a\rY: b")),
    "bare CR in the request line": (400, request(b"GET /\r HTTP/1.1", HOST)),
    "NUL": (400, request(b"GET / HTTP/1.1", HOST, b"X: a\0b")),
    "NUL in the target": (400, request(b"GET /\0 HTTP/1.1", HOST)),
    "DEL": (400, request(b"GET / HTTP/1.1", HOST, b"X: \x7f")),
    "vertical tab": (400, request(b"GET / HTTP/1.1", HOST, b"X: \x0b")),
    "folded line": (400, request(b"GET / HTTP/1.1", HOST, b"X: a", b" b")),
    "folded with a tab": (400, request(b"GET / HTTP/1.1", HOST, b"X: a", b"\tb: c")),
    "fold before the first field": (400, request(b"GET / HTTP/1.1", b" X: a", HOST)),
    "space before the colon": (400, request(b"GET / HTTP/1.1", b"Host : example.org")),
    "tab before the colon": (400, request(b"GET / HTTP/1.1", HOST, b"X\t: a")),
    "no colon": (400, request(b"GET / HTTP/1.1", HOST, b"Nonsense")),
    "known name without a colon": (400, request(b"GET / HTTP/1.1", HOST, b"Accept")),
    "no name": (400, request(b"GET / HTTP/1.1", HOST, b": a")),
    "name beyond ASCII": (400, request(b"GET / HTTP/1.1", HOST, b"X\xe9: a")),
    "name with a slash": (400, request(b"GET / HTTP/1.1", HOST, b"X/Y: a")),
    "length and chunked": (
        400,
        request(b"POST / HTTP/1.1", HOST, b"Content-Length: 3", b"Transfer-Encoding: chunked"),
    ),
    "differing lengths": (
        400,
        request(b"POST / HTTP/1.1", HOST, b"Content-Length: 3", b"Content-Length: 4"),
    ),
    "same lengths": (
        400,
        request(b"POST / HTTP/1.1", HOST, b"Content-Length: 3", b"content-length: 3"),
    ),
    "list of lengths": (400, request(b"POST / HTTP/1.1", HOST, b"Content-Length: 3, 3")),
    "signed length": (400, request(b"POST / HTTP/1.1", HOST, b"Content-Length: +3")),
    "negative length": (400, request(b"POST / HTTP/1.1", HOST, b"Content-Length: -3")),
    "hexadecimal length": (400, request(b"POST / HTTP/1.1", HOST, b"Content-Length: 0x3")),
    "empty length": (400, request(b"POST / HTTP/1.1", HOST, b"Content-Length:")),
    "underscored length": (400, request(b"POST / HTTP/1.1", HOST, b"Content-Length: 1_0")),
    "Arabic-Indic digits": (
        400,
        request(b"POST / HTTP/1.1", HOST, "Content-Length: ٣".encode()),
    ),
    "huge length": (400, request(b"POST / HTTP/1.1", HOST, b"Content-Length: " + b"9" * 19)),
    "spelled Content_Length": (400, request(b"POST / HTTP/1.1", HOST, b"Content_Length: 3")),
    "gzip, chunked": (
        400,
        request(b"POST / HTTP/1.1", HOST, b"Transfer-Encoding: gzip, chunked"),
    ),
    "chunked twice": (
        400,
        request(b"POST / HTTP/1.1", HOST, b"Transfer-Encoding: chunked, chunked"),
    ),
    "two Transfer-Encodings": (
        400,
        request(b"POST / HTTP/1.1", HOST, *[b"Transfer-Encoding: chunked"] * 2),
    ),
    "identity": (400, request(b"POST / HTTP/1.1", HOST, b"Transfer-Encoding: identity")),
    "xchunked": (400, request(b"POST / HTTP/1.1", HOST, b"Transfer-Encoding: xchunked")),
    "chunked with a parameter": (
        400,
        request(b"POST / HTTP/1.1", HOST, b"Transfer-Encoding: chunked;a=b"),
    ),
    "empty Transfer-Encoding": (400, request(b"POST / HTTP/1.1", HOST, b"Transfer-Encoding:")),
    "chunked in HTTP/1.0": (400, request(b"POST / HTTP/1.0", b"Transfer-Encoding: chunked")),
    "Connection names Host": (400, request(b"GET / HTTP/1.1", HOST, b"Connection: host")),
    "Connection names Content-Length": (
        400,
        request(b"POST / HTTP/1.1", HOST, b"Content-Length: 3", b"Connection: Content-Length"),
    ),
    "bad connection option": (400, request(b"GET / HTTP/1.1", HOST, b"Connection: a b")),
    "too many fields": (431, request(b"GET / HTTP/1.1", HOST, *[b"X: y"] * 100)),
}


@pytest.mark.parametrize("head", GOOD.values(), ids=GOOD.keys())
def test_good_requests(head: bytes) -> None:
    """Requests that RFC 9112 allows are read."""
    request_head(head)


@pytest.mark.parametrize(("status", "head"), BAD.values(), ids=BAD.keys())
def test_bad_requests(status: int, head: bytes) -> None:
    """Requests that are malformed or ambiguous are refused with the right status."""
    with pytest.raises(BadMessageError) as caught:
        request_head(head)
    assert caught.value.status == status


def test_lines_keep_order_and_bytes() -> None:
    """End-to-end lines are kept byte for byte and in order, including repeated fields."""
    fields = [b"b: 1", HOST, b"A:2 ", b"b: 3", b"Cookie: x=1", b"Cookie: y=2"]
    assert request_head(request(b"GET / HTTP/1.1", *fields)).lines == fields


@pytest.mark.parametrize(
    "field",
    [
        b"Connection: x-secret, Keep-Alive",
        b"connection: X-Secret",
        b"CONNECTION:  close ,, x-secret",
    ],
)
def test_connection_names_are_dropped(field: bytes) -> None:
    """Fields of one connection, and fields that Connection names, are dropped."""
    head = request_head(
        request(
            b"GET / HTTP/1.1",
            HOST,
            field,
            b"X-Secret: 1",
            b"x-SECRET: 2",
            b"Keep-Alive: timeout=5",
            b"Proxy-Connection: keep-alive",
            b"TE: trailers",
            b"Upgrade: websocket",
            b"X-Kept: 1",
        )
    )
    assert head.lines == [HOST, b"X-Kept: 1"]


@pytest.mark.parametrize(
    ("version", "fields", "keep"),
    [
        (b"HTTP/1.1", [], True),
        (b"HTTP/1.1", [b"Connection: close"], False),
        (b"HTTP/1.1", [b"Connection: keep-alive"], True),
        (b"HTTP/1.1", [b"Connection: x, CLOSE"], False),
        (b"HTTP/1.0", [], False),
        (b"HTTP/1.0", [b"Connection: Keep-Alive"], True),
        (b"HTTP/1.0", [b"Connection: keep-alive, close"], False),
    ],
)
def test_keep_alive(version: bytes, fields: list[bytes], keep: bool) -> None:
    """A connection is reused when the client's version and its Connection field allow it."""
    assert request_head(request(b"GET / " + version, HOST, *fields)).keep is keep


@pytest.mark.parametrize(
    ("line", "target"),
    [
        (b"GET http://other.org:81/a?b HTTP/1.1", b"/a?b"),
        (b"GET http://other.org:81 HTTP/1.1", b"/"),
        (b"GET http://other.org:81?b HTTP/1.1", b"/?b"),
        (b"OPTIONS http://other.org:81 HTTP/1.1", b"*"),
    ],
)
def test_absolute_form(line: bytes, target: bytes) -> None:
    """A target in absolute form becomes origin form, and its authority replaces the Host."""
    head = request_head(request(line, b"A: b", HOST))
    assert (head.target, head.host) == (target, b"other.org:81")
    assert head.lines == [b"A: b", b"Host: other.org:81"]


def test_expect_of_old_clients_is_dropped() -> None:
    """Expect in an HTTP/1.0 request is dropped, since HTTP/1.0 has no interim answers."""
    head = request_head(request(b"POST / HTTP/1.0", b"Expect: 100-continue"))
    assert head.lines == []


GOOD_ANSWERS = {
    "plain": b"HTTP/1.1 200 OK",
    "no reason": b"HTTP/1.1 200 ",
    "not even a space": b"HTTP/1.1 200",
    "long reason": b"HTTP/1.1 404 Not Found At All",
    "reason beyond ASCII": b"HTTP/1.1 200 \xd6K",
    "HTTP/1.0": b"HTTP/1.0 200 OK",
    "fields": b"HTTP/1.1 200 OK\r\nContent-Length: 3\r\nSet-Cookie: a\r\nSet-Cookie: b",
}

BAD_ANSWERS = {
    "nothing": b"",
    "not HTTP": b"220 smtp.example.org ESMTP",
    "bad version": b"HTTP/2 200 OK",
    "two digits": b"HTTP/1.1 20 OK",
    "four digits": b"HTTP/1.1 2000 OK",
    "status 600": b"HTTP/1.1 600 What",
    "status 099": b"HTTP/1.1 099 What",
    "two spaces": b"HTTP/1.1  200 OK",
    "glued reason": b"HTTP/1.1 200OK",
    "bare LF": b"HTTP/1.1 200 OK\nA: b",
    "bare CR": b"HTTP/1.1 200 OK\r\nA: b\rC: d",
    "NUL": b"HTTP/1.1 200 OK\r\nA: \0",
    "folded line": b"HTTP/1.1 200 OK\r\nA: b\r\n c",
    "space before the colon": b"HTTP/1.1 200 OK\r\nA : b",
    "no colon": b"HTTP/1.1 200 OK\r\nServer",
    "length and chunked": (b"HTTP/1.1 200 OK\r\nContent-Length: 3\r\nTransfer-Encoding: chunked"),
    "two lengths": b"HTTP/1.1 200 OK\r\nContent-Length: 3\r\nContent-Length: 4",
    "bad length": b"HTTP/1.1 200 OK\r\nContent-Length: x",
    "gzip": b"HTTP/1.1 200 OK\r\nTransfer-Encoding: gzip",
    "chunked in HTTP/1.0": b"HTTP/1.0 200 OK\r\nTransfer-Encoding: chunked",
    "too many fields": b"HTTP/1.1 200 OK" + b"\r\nA: b" * 101,
}


@pytest.mark.parametrize("head", GOOD_ANSWERS.values(), ids=GOOD_ANSWERS.keys())
def test_good_answers(head: bytes) -> None:
    """Well-formed answers are read."""
    answer_head(head)


@pytest.mark.parametrize("head", BAD_ANSWERS.values(), ids=BAD_ANSWERS.keys())
def test_bad_answers(head: bytes) -> None:
    """A malformed answer is refused."""
    with pytest.raises(BadMessageError):
        answer_head(head)


@pytest.mark.parametrize(
    ("fields", "keep"),
    [(b"", True), (b"\r\nConnection: close", False), (b"\r\nConnection: keep-alive", True)],
)
def test_workers_wish_to_close(fields: bytes, keep: bool) -> None:
    """A worker's connection is reused, except after Connection: close and with HTTP/1.0."""
    assert answer_head(b"HTTP/1.1 200 OK" + fields).keep is keep
    assert not answer_head(b"HTTP/1.0 200 OK" + fields).keep


@pytest.mark.parametrize(
    ("data", "status"),
    [
        (b"GET / HTTP/1.1\n", 400),
        (b"GET / HTTP/1.1\r\nA: b\n\n", 400),
        (b"\n", 400),
        (b"\x16\x03\x01\x02\x00\x01", 400),  # a TLS client that took the wrong port
        (b"G" * 104, 431),
        (b"G" * 101 + b"\r\n\r\n", 431),
        (b"G\n" + b"G" * 200, 400),
    ],
)
def test_hopeless_beginnings(data: bytes, status: int) -> None:
    """Bytes that can no longer become a head are refused at once."""
    with pytest.raises(BadMessageError) as caught:
        find_end(data, 0, 100)
    assert caught.value.status == status


@pytest.mark.parametrize("data", [b"", b"G", b"GET / HTTP/1.1\r", b"GET / HTTP/1.1\r\nA: b\r\n\r"])
def test_unfinished_heads(data: bytes) -> None:
    """For an incomplete head the reader waits."""
    assert find_end(data, 0, 100) == -1


def test_largest_head() -> None:
    """A head whose size is exactly the limit is accepted."""
    assert find_end(b"G" * 100 + b"\r\n\r\n", 0, 100) == 100


def outcome(pieces: list[bytes], limit: int) -> object:
    """What a reader makes of a head that it receives in these pieces."""
    data, seen, reader = b"", 0, Reader(limit, 10)
    try:
        for piece in pieces:
            data += piece
            head = reader.request(data, seen)
            if head is not None:
                return head.method, head.target, head.lines, data[: reader.end][-4:]
            seen = len(data)
    except BadMessageError as bad:
        return bad.status
    return None


@given(
    st.sampled_from([*GOOD.values(), *(head for _, head in BAD.values())]),
    st.lists(st.integers(0, 400), max_size=8),
    st.sampled_from([20, 60, 1000]),
)
def test_any_split_reads_the_same(head: bytes, cuts: list[int], limit: int) -> None:
    """However a head is split over receives, the outcome is the same."""
    whole = head + b"\r\n\r\n"
    edges = sorted({0, len(whole), *(cut % len(whole) for cut in cuts)})
    pieces = [whole[a:b] for a, b in itertools.pairwise(edges)]
    assert outcome(pieces, limit) == outcome([whole], limit)


@given(st.binary(max_size=200))
def test_garbage_is_refused_or_read(data: bytes) -> None:
    """The reader reads or refuses any input, and raises no other error."""
    outcome([data, b"\r\n\r\n"], 150)
