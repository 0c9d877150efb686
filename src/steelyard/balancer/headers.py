"""Heads on their way out: what a balancer takes away and adds (RFC 9110, 7.6).

End-to-end fields keep their bytes and their order. Fields of one connection are gone already:
the grammar did not keep them. X-Forwarded-For, -Proto and -Host are lists of which we are the
last entry, so all that came is kept, in one line.
"""

from __future__ import annotations

from steelyard.balancer.grammar import AnswerHead, RequestHead

NAME = b"steelyard"
_VIA_11 = b"Via: 1.1 " + NAME
_VIA_10 = b"Via: 1.0 " + NAME


class Origin:
    """Where a request came from: what the fields we add say about it."""

    __slots__ = ("local", "peer", "scheme")

    def __init__(self, peer: bytes, local: bytes, scheme: bytes) -> None:
        self.peer = peer  # the client's address
        self.local = local  # the address it connected to: the Host of a client that sent none
        self.scheme = scheme


def request_start(head: RequestHead, origin: Origin) -> bytes:
    """The head that a worker gets."""
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
    parts.append(_appended(b"X-Forwarded-For: ", head.forwarded_for, origin.peer))
    parts.append(_appended(b"X-Forwarded-Proto: ", head.forwarded_proto, origin.scheme))
    parts.append(_appended(b"X-Forwarded-Host: ", head.forwarded_host, head.host or origin.local))
    parts.append(_VIA_11 if head.http11 else _VIA_10)
    parts.append(b"\r\n")
    return b"\r\n".join(parts)


def answer_start(head: AnswerHead, chunked: bool, keep: bool, http11: bool) -> bytes:
    """The head that a client gets; `chunked` and `keep` are about its connection."""
    parts = [b"HTTP/1.1 " + head.start]
    parts += _without_length(head.lines) if head.status == 204 else head.lines
    parts.append(_VIA_11)
    if chunked:
        parts.append(b"Transfer-Encoding: chunked")
    if not keep:
        parts.append(b"Connection: close")
    elif not http11:
        parts.append(b"Connection: keep-alive")
    if head.status == 426 and keep and head.upgrade:  # RFC 9110, 15.5.22: it says to what
        parts.append(_upgrade(head.upgrade))
    parts.append(b"\r\n")
    return b"\r\n".join(parts)


def interim(head: AnswerHead) -> bytes:
    """A 1xx answer; it has neither a body nor anything to say about the connection."""
    return b"\r\n".join((b"HTTP/1.1 " + head.start, *_without_length(head.lines), b"\r\n"))


def switching(head: AnswerHead) -> bytes:
    """A 101: the last head on this connection."""
    lines = _without_length(head.lines)
    last = (_upgrade(head.upgrade), _VIA_11, b"\r\n")
    return b"\r\n".join((b"HTTP/1.1 " + head.start, *lines, *last))


def _upgrade(protocols: list[bytes]) -> bytes:
    return b"Connection: upgrade\r\nUpgrade: " + b", ".join(protocols)


def _appended(name: bytes, before: list[bytes], ours: bytes) -> bytes:
    return name + b", ".join((*before, ours)) if before else name + ours


def _ensure_host(parts: list[bytes], head: RequestHead) -> None:
    """An absolute-form request in HTTP/1.0 may name its host in the target alone."""
    if not any(line[:5].lower() == b"host:" for line in head.lines):
        parts.append(b"Host: " + head.host)


def _without_length(lines: list[bytes]) -> list[bytes]:
    """RFC 9110, 8.6: a 1xx or 204 has no Content-Length, whatever a worker believes."""
    return [line for line in lines if line[:15].lower() != b"content-length:"]
