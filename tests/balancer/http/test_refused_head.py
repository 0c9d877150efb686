"""Tests of what is read from the head of a refused request."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from steelyard.balancer.http.names import REQUEST_ID
from steelyard.balancer.http.refused_head import MOST, read_refused


def test_a_whole_head() -> None:
    """Method, target, host and the proxy's id are read from a whole head."""
    head = read_refused(
        b"POST /a?b HTTP/1.0\r\nHost: a.org\r\nX-Request-ID: 7\r\nUser-Agent: me\r\n\r\nHost: b"
    )
    assert head is not None
    assert (head.method, head.target, head.host) == (b"POST", b"/a?b", b"a.org")
    assert not head.http11
    assert head.claims == [(REQUEST_ID, b"7")]
    assert head.lines[-1] == b"User-Agent: me"


def test_the_first_host_is_told() -> None:
    """Of two Host fields the first is read."""
    head = read_refused(b"GET / HTTP/1.1\r\nHost: a.org\r\nHost: b.org\r\n\r\n")
    assert head is not None
    assert head.host == b"a.org"


def test_a_part_of_a_head() -> None:
    """The whole lines of an incomplete head are read, and an incomplete line is not."""
    head = read_refused(b"GET / HTTP/1.1\r\nHost: a.org\r\nUser-Ag")
    assert head is not None
    assert head.host == b"a.org"
    assert head.lines == [b"Host: a.org"]


@pytest.mark.parametrize(
    "data",
    [
        b"",
        b"GET / HTTP/1.1",
        b"GET /\r\n\r\n",
        b"GET  / HTTP/1.1\r\n\r\n",
        b"G\x01T / HTTP/1.1\r\n\r\n",
        b"GET /\x01 HTTP/1.1\r\n\r\n",
        b"GET / HTTP/1.1\nHost: a\r\n\r\n",
        b"GET /" + b"a" * MOST + b" HTTP/1.1\r\n\r\n",
    ],
)
def test_a_first_line_that_is_none(data: bytes) -> None:
    """A request whose request line is missing, malformed or too long has no head."""
    assert read_refused(data) is None


def test_a_host_that_is_none() -> None:
    """A malformed Host is not read."""
    head = read_refused(b"GET / HTTP/1.1\r\nHost: a b\r\n\r\n")
    assert head is not None
    assert head.host == b""


@given(st.binary(max_size=200))
def test_any_bytes(rest: bytes) -> None:
    """Method and target are read, whatever bytes follow the request line."""
    head = read_refused(b"GET /x HTTP/1.1\r\n" + rest)
    assert head is not None
    assert (head.method, head.target) == (b"GET", b"/x")
