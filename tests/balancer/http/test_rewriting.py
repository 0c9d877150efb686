"""Tests of the heads that the balancer writes, to workers and to clients."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from steelyard.balancer.http.fields import SPECIAL
from steelyard.balancer.http.heads import RequestHead
from steelyard.balancer.http.origin import Manner, Origin
from steelyard.balancer.http.rewriting import answer_start, interim, request_start
from tests.balancer.reading import NOON, answer_head, request_head


class Same(Manner):
    """A manner that gives all requests the same id."""

    def next_id(self) -> bytes:
        return b"p-1"


ORIGIN = Origin("192.0.2.7", b"127.0.0.1:8080", b"http", Same("x-forwarded", (), b"p"), False)
ADDED = [
    b"X-Forwarded-For: 192.0.2.7",
    b"X-Forwarded-Proto: http",
    b"X-Forwarded-Host: a.org",
    b"Via: 1.1 steelyard",
    b"X-Request-ID: p-1",
]


def forwarded(*lines: bytes) -> list[bytes]:
    """The lines that a worker gets for a head of these lines."""
    start = request_start(request_head(b"\r\n".join(lines)), ORIGIN)
    assert start.endswith(b"\r\n\r\n")
    return start[:-4].split(b"\r\n")


def test_a_plain_request() -> None:
    """The request line and end-to-end fields stay, and the balancer's fields come last."""
    lines = [b"GET /a?b=%20 HTTP/1.1", b"Host: a.org", b"Cookie: a=1", b"Cookie: b=2"]
    assert forwarded(*lines, b"Connection: close") == lines + ADDED


def test_a_client_without_host() -> None:
    """An HTTP/1.0 request without Host gets the local address as Host, since workers need one."""
    assert forwarded(b"GET / HTTP/1.0") == [
        b"GET / HTTP/1.1",
        b"Host: 127.0.0.1:8080",
        b"X-Forwarded-For: 192.0.2.7",
        b"X-Forwarded-Proto: http",
        b"X-Forwarded-Host: 127.0.0.1:8080",
        b"Via: 1.0 steelyard",
        b"X-Request-ID: p-1",
    ]


def test_a_host_only_in_the_target() -> None:
    """For an HTTP/1.0 request in absolute form the host of the target becomes the Host."""
    assert forwarded(b"GET http://a.org/x HTTP/1.0")[:2] == [b"GET /x HTTP/1.1", b"Host: a.org"]


def test_chunked_is_said_once() -> None:
    """A chunked body is announced by one Transfer-Encoding field in the usual spelling."""
    got = forwarded(b"POST / HTTP/1.1", b"transfer-encoding: CHUNKED", b"Host: a.org")
    assert got[1:3] == [b"Host: a.org", b"Transfer-Encoding: chunked"]


def answered(*lines: bytes, chunked: bool = False, keep: bool = True, new: bool = True) -> bytes:
    """The head that a client gets for these lines of a worker."""
    request = RequestHead(b"GET", b"", new)
    request.request_id = b"p-1"
    return answer_start(answer_head(b"\r\n".join(lines)), chunked, keep, request, NOON)


def test_answers() -> None:
    """Status, reason and fields stay; Connection and Transfer-Encoding are the balancer's own."""
    lines = (b"HTTP/1.0 404 Nope", b"Set-Cookie: a", b"Date: x", b"Connection: close")
    kept = b"HTTP/1.1 404 Nope\r\nSet-Cookie: a\r\nDate: x\r\n"
    name = b"Via: 1.1 steelyard\r\nX-Request-ID: p-1\r\n\r\n"
    assert answered(*lines) == kept + name
    assert answered(*lines, keep=False) == kept + b"Connection: close\r\n" + name
    assert answered(*lines, new=False) == kept + b"Connection: keep-alive\r\n" + name
    assert answered(*lines, chunked=True) == kept + b"Transfer-Encoding: chunked\r\n" + name


@pytest.mark.parametrize(
    ("lines", "dates"),
    [
        ((), [NOON.line()[2:]]),
        ((b"Date: x",), [b"Date: x"]),
        ((b"date: x",), [b"date: x"]),
        ((b"DATE:x",), [b"DATE:x"]),
        ((b"Data: x", b"X-Date: x"), [NOON.line()[2:]]),
        ((b"Date: x", b"Connection: date"), [NOON.line()[2:]]),
    ],
)
def test_the_date_of_an_answer(lines: tuple[bytes, ...], dates: list[bytes]) -> None:
    """The worker's Date stays, and an answer without Date gets one from the balancer."""
    got = answered(b"HTTP/1.1 200 OK", *lines).split(b"\r\n")
    assert [line for line in got if line.lower().startswith(b"date:")] == dates


def test_no_length_in_204() -> None:
    """A Content-Length that a worker sends in a 204 is dropped."""
    lines = (b"HTTP/1.1 204 No Content", b"Content-Length: 0", b"A: b")
    assert b"ength" not in answered(*lines)
    assert b"A: b" in answered(*lines)


def test_interim() -> None:
    """An interim answer passes with its fields."""
    head = answer_head(b"HTTP/1.1 103 Early Hints\r\nLink: </a>")
    assert interim(head) == b"HTTP/1.1 103 Early Hints\r\nLink: </a>\r\n\r\n"


TOKEN = st.from_regex(r"[A-Za-z][A-Za-z0-9-]{0,12}", fullmatch=True).filter(
    lambda name: name.lower().encode() not in SPECIAL and name.lower() != "via"
)
VALUE = st.from_regex(r"[!-~]([ -~]{0,20}[!-~])?", fullmatch=True)


@given(st.lists(st.tuples(TOKEN, VALUE), max_size=20))
def test_end_to_end_fields_survive(pairs: list[tuple[str, str]]) -> None:
    """All end-to-end fields arrive with the same bytes, in the same order and number."""
    lines = [f"{name}: {value}".encode() for name, value in pairs]
    got = forwarded(b"GET / HTTP/1.1", b"Host: a.org", *lines)
    assert got == [b"GET / HTTP/1.1", b"Host: a.org", *lines, *ADDED]
