"""Tests of the answers that the balancer gives itself."""

from __future__ import annotations

from steelyard.balancer.exchange.own_answers import options, refusal

DATE = b"\r\nDate: Wed, 18 Nov 2026 12:00:00 GMT"


def test_a_refusal_says_why() -> None:
    """A refusal has a status, a reason, a date, a length and, on request, Connection: close."""
    text = refusal(502, "the worker gave no answer", DATE, keep=False)
    head, _, body = text.partition(b"\r\n\r\n")
    assert head.startswith(b"HTTP/1.1 502 Bad Gateway\r\n")
    assert b"\r\nConnection: close" in head
    assert DATE + b"\r\n" in head
    assert b"\r\nContent-Length: %d\r\n" % len(body) in head
    assert body == b"502 Bad Gateway: the worker gave no answer\n"


def test_a_refused_head_has_no_body() -> None:
    """A refusal of a HEAD request has no body."""
    assert refusal(503, "x", DATE, keep=True, bodiless=True).endswith(b"\r\n\r\n")


def test_unavailable_says_when_to_come_back() -> None:
    """A 503 carries Retry-After, and a 502 does not."""
    assert b"Retry-After: 1\r\n" in refusal(503, "x", DATE, keep=True)
    assert b"Retry-After" not in refusal(502, "x", DATE, keep=True)


def test_options() -> None:
    """The answer to an OPTIONS lists the methods that are allowed, and has no body."""
    head, _, body = options(DATE, keep=True, request_id=b"p-1").partition(b"\r\n\r\n")
    first, *lines = head.split(b"\r\n")
    assert first == b"HTTP/1.1 200 OK"
    assert b"Allow: GET, HEAD, POST, PUT, DELETE, OPTIONS, PATCH" in lines
    assert {b"Content-Length: 0", b"X-Request-ID: p-1", DATE[2:]} < set(lines)
    assert body == b""
