"""Heads on their way out: what a balancer takes away and adds (RFC 9110, 7.6).

End-to-end fields keep their bytes and their order. Fields of one connection are gone already:
the grammar did not keep them.
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
    """The head that a worker gets; the request has its id from now on."""
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
    """The head that a client gets, with what is here of the body; `chunked` and `keep` are about
    the client's connection. RFC 9110, 6.6.1 has a proxy add the Date that a worker left out."""
    if head.status == 204:
        head.rewrite(_without_length(head))
    more = VIA_11 if head.dated else date.line() + VIA_11
    special = chunked or not (keep and request.http11) or head.status == 426
    if special or request.session is not None:
        more = _special(head, chunked, keep, request) + more
    return joined(head.data, head.size, more, request.request_id, END, body)


def interim(head: AnswerHead) -> bytes:
    """A 1xx answer; it has neither a body nor anything to say about the connection."""
    return _without_length(head) + END


def switching(head: AnswerHead, request: RequestHead) -> bytes:
    """A 101: the last head on this connection."""
    to = _upgrade(head.upgrade or [])
    start = _without_length(head) + (request.session or b"")
    return b"".join((start, to, VIA_11, request.request_id, END))


def _connection(keep: bool) -> bytes:
    return b"\r\nConnection: keep-alive" if keep else b"\r\nConnection: close"


def _upgrade(protocols: list[bytes]) -> bytes:
    return b"\r\nConnection: upgrade\r\nUpgrade: " + b", ".join(protocols)


def _special(head: AnswerHead, chunked: bool, keep: bool, request: RequestHead) -> bytes:
    """What not every answer is told to say to the client."""
    lines = request.session or b""
    if chunked:
        lines += CHUNKED
    if not (keep and request.http11):
        lines += _connection(keep)
    if head.status == 426 and keep and head.upgrade:  # RFC 9110, 15.5.22: it says to what
        lines += _upgrade(head.upgrade)
    return lines


def _unusual(head: RequestHead, origin: Origin) -> bytes:
    """The text of one that is not in HTTP/1.1, is chunked, or wants another protocol."""
    text = head.text if head.http11 else _modern(head, origin)
    if head.chunked:
        text += CHUNKED
    return text + _upgrade(head.upgrade) if head.upgrade else text


def _modern(head: RequestHead, origin: Origin) -> bytes:
    """An HTTP/1.0 request in HTTP/1.1; it may have no Host, or one in its target alone."""
    lines = head.lines
    if not any(line[:5].lower() == b"host:" for line in lines):
        lines = [b"Host: " + (head.host or origin.local), *lines]
    return b"%b %b HTTP/1.1" % (head.method, head.target) + join(lines)


def _without_length(head: AnswerHead) -> bytes:
    """RFC 9110, 8.6: 1xx and 204 have no Content-Length, whatever a worker believes."""
    first, *lines = head.text.split(b"\r\n")
    return first + join([line for line in lines if line[:15].lower() != b"content-length:"])
