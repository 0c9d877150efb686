"""Rewriting: writes the heads to send, with the changes that a proxy must make (RFC 9110, 7.6).

End-to-end fields keep their bytes and their order. The grammar has already removed the fields that
belong to one connection.
"""

from __future__ import annotations

from steelyard.balancer.http.date import Date
from steelyard.balancer.http.fields import join
from steelyard.balancer.http.grammar import END
from steelyard.balancer.http.heads import AnswerHead, RequestHead
from steelyard.balancer.http.origin import VIA_11, Origin
from steelyard.balancer.io.octets import joined

CHUNKED = b"\r\nTransfer-Encoding: chunked"


def request_start(head: RequestHead, origin: Origin) -> bytes:
    """Give the request its id, and return the head for the worker."""
    head.request_id = origin.request_id(head)
    if not head.http11 or head.chunked or head.upgrade:
        head.rewrite(_unusual(head, origin))
    return joined(head.data, head.size, origin.ending(head), head.request_id, END, b"")


def answer_start(
    head: AnswerHead,
    chunked: bool,
    keep: bool,
    request: RequestHead,
    date: Date,
    body: bytes = b"",
) -> bytes:
    """Return the head for the client, with `body` behind it; `chunked` and `keep` apply to the
    client's connection. A proxy adds the Date that a worker left out (RFC 9110, 6.6.1)."""
    if head.status == 204:
        head.rewrite(_without_length(head))
    more = VIA_11 if head.dated else date.line() + VIA_11
    special = chunked or not (keep and request.http11) or head.status == 426
    if special or request.session is not None:
        more = _special(head, chunked, keep, request) + more
    return joined(head.data, head.size, more, request.request_id, END, body)


def interim(head: AnswerHead) -> bytes:
    """Return a 1xx answer for the client, which has no body and no connection fields."""
    return _without_length(head) + END


def switching(head: AnswerHead, request: RequestHead) -> bytes:
    """Return a 101 answer for the client, the last head on its connection."""
    to = _upgrade(head.upgrade or [])
    start = _without_length(head) + (request.session or b"")
    return b"".join((start, to, VIA_11, request.request_id, END))


def _connection(keep: bool) -> bytes:
    return b"\r\nConnection: keep-alive" if keep else b"\r\nConnection: close"


def _upgrade(protocols: list[bytes]) -> bytes:
    return b"\r\nConnection: upgrade\r\nUpgrade: " + b", ".join(protocols)


def _special(head: AnswerHead, chunked: bool, keep: bool, request: RequestHead) -> bytes:
    """Return the fields that only some answers need."""
    lines = request.session or b""
    if chunked:
        lines += CHUNKED
    if not (keep and request.http11):
        lines += _connection(keep)
    if head.status == 426 and keep and head.upgrade:  # RFC 9110, 15.5.22: a 426 names the protocols
        lines += _upgrade(head.upgrade)
    return lines


def _unusual(head: RequestHead, origin: Origin) -> bytes:
    """Return the text of a request that is in HTTP/1.0, is chunked, or offers an upgrade."""
    text = head.text if head.http11 else _modern(head, origin)
    if head.chunked:
        text += CHUNKED
    return text + _upgrade(head.upgrade) if head.upgrade else text


def _modern(head: RequestHead, origin: Origin) -> bytes:
    """Return an HTTP/1.0 request as HTTP/1.1. Add a Host if the request has none, or has it only in
    its target."""
    lines = head.lines
    if not any(line[:5].lower() == b"host:" for line in lines):
        lines = [b"Host: " + (head.host or origin.local), *lines]
    return b"%b %b HTTP/1.1" % (head.method, head.target) + join(lines)


def _without_length(head: AnswerHead) -> bytes:
    """Return a head without Content-Length, which 1xx and 204 must not have (RFC 9110, 8.6)."""
    first, *lines = head.text.split(b"\r\n")
    return first + join([line for line in lines if line[:15].lower() != b"content-length:"])
