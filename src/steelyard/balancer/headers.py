"""Heads on their way out: what a balancer takes away and adds (RFC 9110, 7.6).

End-to-end fields keep their bytes and their order. Fields of one connection are gone already:
the grammar did not keep them.
"""

from __future__ import annotations

from steelyard.balancer.grammar import AnswerHead, RequestHead
from steelyard.balancer.origin import Origin

NAME = b"steelyard"
_VIA_11 = b"Via: 1.1 " + NAME
_VIA_10 = b"Via: 1.0 " + NAME


def request_start(head: RequestHead, origin: Origin) -> bytes:
    """The head that a worker gets; the request has its id from now on."""
    head.request_id = origin.request_id(head)
    parts = [b"%b %b HTTP/1.1" % (head.method, head.target)]
    if not head.host:
        parts.append(b"Host: " + origin.local)
    elif not head.http11:
        _ensure_host(parts, head)
    parts += head.lines
    if head.chunked:
        parts.append(b"Transfer-Encoding: chunked")
    if head.upgrade:
        parts.append(_upgrade(head.upgrade))
    parts.append(origin.lines(head))
    parts.append(_VIA_11 if head.http11 else _VIA_10)
    parts.append(b"X-Request-ID: %b\r\n\r\n" % head.request_id)
    return b"\r\n".join(parts)


def answer_start(head: AnswerHead, chunked: bool, keep: bool, request: RequestHead) -> bytes:
    """The head that a client gets; `chunked` and `keep` are about its connection."""
    parts = [b"HTTP/1.1 " + head.start]
    parts += _without_length(head.lines) if head.status == 204 else head.lines
    parts.append(_VIA_11)
    if request.pin is not None and request.pin.line:
        parts.append(request.pin.line)
    if chunked:
        parts.append(b"Transfer-Encoding: chunked")
    if not keep:
        parts.append(b"Connection: close")
    elif not request.http11:
        parts.append(b"Connection: keep-alive")
    if head.status == 426 and keep and head.upgrade:  # RFC 9110, 15.5.22: it says to what
        parts.append(_upgrade(head.upgrade))
    parts.append(b"X-Request-ID: %b\r\n\r\n" % request.request_id)
    return b"\r\n".join(parts)


def interim(head: AnswerHead) -> bytes:
    """A 1xx answer; it has neither a body nor anything to say about the connection."""
    return b"\r\n".join((b"HTTP/1.1 " + head.start, *_without_length(head.lines), b"\r\n"))


def switching(head: AnswerHead, request: RequestHead) -> bytes:
    """A 101: the last head on this connection."""
    lines = _without_length(head.lines)
    if request.pin is not None and request.pin.line:
        lines.append(request.pin.line)
    last = (_upgrade(head.upgrade), _VIA_11, b"X-Request-ID: %b\r\n\r\n" % request.request_id)
    return b"\r\n".join((b"HTTP/1.1 " + head.start, *lines, *last))


def _upgrade(protocols: list[bytes]) -> bytes:
    return b"Connection: upgrade\r\nUpgrade: " + b", ".join(protocols)


def _ensure_host(parts: list[bytes], head: RequestHead) -> None:
    """An absolute-form request in HTTP/1.0 may name its host in the target alone."""
    if not any(line[:5].lower() == b"host:" for line in head.lines):
        parts.append(b"Host: " + head.host)


def _without_length(lines: list[bytes]) -> list[bytes]:
    """RFC 9110, 8.6: 1xx and 204 have no Content-Length, whatever a worker believes."""
    return [line for line in lines if line[:15].lower() != b"content-length:"]
