"""Heads on their way out: what a balancer takes away and adds (RFC 9110, 7.6).

End-to-end fields keep their bytes and their order. Fields of one connection are gone already:
the grammar did not keep them.
"""

from __future__ import annotations

from steelyard.balancer.fields import join
from steelyard.balancer.grammar import AnswerHead, RequestHead
from steelyard.balancer.octets import joined
from steelyard.balancer.origin import Origin

NAME = b"steelyard"
_VIA_11 = b"\r\nVia: 1.1 " + NAME + b"\r\nX-Request-ID: "
_VIA_10 = b"\r\nVia: 1.0 " + NAME + b"\r\nX-Request-ID: "


def request_start(head: RequestHead, origin: Origin) -> bytes:
    """The head that a worker gets; the request has its id from now on."""
    head.request_id = origin.request_id(head)
    return joined(
        (
            head.method,
            b" ",
            head.target,
            b" HTTP/1.1" if head.http11 and head.host else _old_start(head, origin),
            head.fields,
            b"\r\nTransfer-Encoding: chunked" if head.chunked else b"",
            _upgrade(head.upgrade) if head.upgrade else b"",
            origin.lines(head),
            _VIA_11 if head.http11 else _VIA_10,
            head.request_id,
            b"\r\n\r\n",
        )
    )


def answer_start(head: AnswerHead, chunked: bool, keep: bool, request: RequestHead) -> bytes:
    """The head that a client gets; `chunked` and `keep` are about its connection."""
    return joined(
        (
            b"HTTP/1.1 ",
            head.start,
            _without_length(head) if head.status == 204 else head.fields,
            b"" if request.pin is None else request.pin.line,
            b"\r\nTransfer-Encoding: chunked" if chunked else b"",
            b"" if keep and request.http11 else _connection(keep),
            # RFC 9110, 15.5.22: a 426 says to what
            _upgrade(head.upgrade) if head.status == 426 and keep and head.upgrade else b"",
            _VIA_11,
            request.request_id,
            b"\r\n\r\n",
        )
    )


def interim(head: AnswerHead) -> bytes:
    """A 1xx answer; it has neither a body nor anything to say about the connection."""
    return b"".join((b"HTTP/1.1 ", head.start, _without_length(head), b"\r\n\r\n"))


def switching(head: AnswerHead, request: RequestHead) -> bytes:
    """A 101: the last head on this connection."""
    to = _upgrade(head.upgrade or [])
    session = b"" if request.pin is None else request.pin.line
    last = (session, to, _VIA_11, request.request_id, b"\r\n\r\n")
    return b"".join((b"HTTP/1.1 ", head.start, _without_length(head), *last))


def _connection(keep: bool) -> bytes:
    return b"\r\nConnection: keep-alive" if keep else b"\r\nConnection: close"


def _upgrade(protocols: list[bytes]) -> bytes:
    return b"\r\nConnection: upgrade\r\nUpgrade: " + b", ".join(protocols)


def _old_start(head: RequestHead, origin: Origin) -> bytes:
    """An HTTP/1.0 request may have no Host, or name its host in the target alone."""
    if not head.host:
        return b" HTTP/1.1\r\nHost: " + origin.local
    if any(line[:5].lower() == b"host:" for line in head.lines):
        return b" HTTP/1.1"
    return b" HTTP/1.1\r\nHost: " + head.host


def _without_length(head: AnswerHead) -> bytes:
    """RFC 9110, 8.6: 1xx and 204 have no Content-Length, whatever a worker believes."""
    return join([line for line in head.lines if line[:15].lower() != b"content-length:"])
