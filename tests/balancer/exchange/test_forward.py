"""Tests of how a request's bytes become the bytes for the worker, without sockets."""

from __future__ import annotations

import itertools

import pytest
from hypothesis import given
from hypothesis import strategies as st

from steelyard.balancer.exchange.forward import WINDOW, Forward
from steelyard.balancer.http.fields import BadMessageError
from steelyard.balancer.http.framing import ChunkedBody, chunk, last_chunk
from steelyard.balancer.http.origin import Manner, Origin
from tests.balancer.reading import request_head

ORIGIN = Origin("192.0.2.7", b"127.0.0.1:80", b"http", Manner("x-forwarded", (), b"p"), False)


def forward(method: bytes, field: bytes = b"", limit: int = -1) -> Forward:
    head = method + b" / HTTP/1.1\r\nHost: a" + (b"\r\n" + field if field else b"")
    return Forward(request_head(head), ORIGIN, limit)


def test_no_body() -> None:
    """A request without a body is complete from the start."""
    assert forward(b"GET").done
    assert forward(b"POST", b"Content-Length: 0").done


def test_length() -> None:
    """A body with a Content-Length passes unchanged; the bytes after it are the next request."""
    request = forward(b"POST", b"Content-Length: 5")
    assert request.feed(b"abc") == b"abc"
    assert not request.done
    assert request.feed(b"deGET") == b"de"
    assert request.done
    assert request.rest == b"GET"


def test_declared_length_over_the_limit() -> None:
    """A Content-Length over the limit is refused before the body arrives."""
    with pytest.raises(BadMessageError) as caught:
        forward(b"POST", b"Content-Length: 5", limit=4)
    assert caught.value.status == 413


@given(st.lists(st.binary(min_size=1, max_size=50), max_size=5), st.lists(st.integers(0, 500)))
def test_chunked_is_framed_anew(payloads: list[bytes], cuts: list[int]) -> None:
    """However a chunked body is split, it is sent on chunked, with payload and trailers intact."""
    raw = b"".join(map(chunk, payloads)) + last_chunk([b"A: b"])
    edges = sorted({0, len(raw), *(cut % len(raw) for cut in cuts)})
    request = forward(b"POST", b"Transfer-Encoding: chunked")
    out = b"".join(bytes(request.feed(raw[a:b])) for a, b in itertools.pairwise(edges))
    assert request.done
    reader = ChunkedBody()
    assert reader.feed(out) == b"".join(payloads)
    assert reader.done
    assert reader.trailers() == [b"A: b"]


def test_what_can_be_repeated() -> None:
    """An idempotent request is kept for a retry up to a window, any other only until it is sent."""
    put = forward(b"PUT", b"Content-Length: 99999999")
    put.sent(b"abc")
    assert put.replay is not None
    assert put.replay.endswith(b"\r\n\r\n")
    assert put.held == b"abc"
    put.sent(b"x" * WINDOW)
    assert put.replay is None

    post = forward(b"POST", b"Content-Length: 6")
    post.hold(b"abc")
    assert post.replay is not None
    assert post.held == b"abc"
    post.sent(b"def")
    assert post.replay is None
    post.hold(b"ghi")
    assert post.replay is None
