"""Grammar: parses the heads of requests and answers strictly, after RFC 9112.

The parser refuses a head that two parsers could understand differently, because such differences
are used to smuggle requests past a balancer. It goes over a head once, line by line, and runs no
Python statement per octet (see octets). It does not split plain lines: long slices of the received
bytes are forwarded.
"""

from __future__ import annotations

import re

from steelyard.balancer.http.alphabets import CR, NAME, ONE, SLASH, SPACE, TARGET, TOKEN
from steelyard.balancer.http.authority import authority
from steelyard.balancer.http.fields import (
    BadMessageError,
    Lines,
    connection_options,
    content_length,
    has_zeros,
    max_forwards,
    transfer_coding,
    upgrade_offer,
    usual_options,
    without,
)
from steelyard.balancer.http.heads import AnswerHead, RequestHead
from steelyard.balancer.http.names import (
    CLOSE,
    CODING,
    CONNECTION,
    DATE,
    EXPECT,
    FORWARDED_FOR,
    HOST,
    KEEP_ALIVE,
    LENGTH,
    MAX_FORWARDS,
    PROXY,
    REQUEST_ID,
    UPGRADE,
)
from steelyard.balancer.http.start_line import (
    bad_request_line,
    is_http11,
    method_of,
    other_target,
    status_of,
)
from steelyard.balancer.io.octets import empty_line, extended, matches, octet, run, text_end

END = b"\r\n\r\n"
COUNTED = frozenset({b"OPTIONS", b"TRACE"})  # the methods with Max-Forwards (RFC 9110, 7.6.2)

_EMPTY_LINES = re.compile(rb"\A(?:\r\n)+")


class Reader:
    """Parses heads of at most `limit` bytes and `most_fields` fields, one after the other, so that
    one `Lines` object is enough for all heads."""

    __slots__ = ("_limit", "_lines", "_most", "end")

    def __init__(self, limit: int, most_fields: int) -> None:
        self._limit = limit
        self._most = most_fields
        self._lines = Lines()
        self.end = 0  # the position behind the last head that was parsed

    def request(
        self, data: bytes, seen: int, tls: bool = False, known_host: bytes = b""
    ) -> RequestHead | None:
        """Parse the head at the front of `data`; return None if it is incomplete. `seen` bytes were
        searched for its end before. `tls` tells whether the connection uses TLS. A Host that equals
        `known_host`, the one of an earlier request, is not checked again."""
        end = find_end(data, seen, self._limit)
        if end < 0:
            return None
        space = run(data, 0, NAME)
        last = run(data, space + 1, TARGET) if octet(data, space) == SPACE else 0
        if last <= space + 1 or octet(data, last) != SPACE:
            raise bad_request_line(data)
        method = method_of(data, space)
        stop = last + 9
        http11 = matches(data, last + 1, stop, b"HTTP/1.1")
        if not http11 or octet(data, stop) != CR:
            stop = text_end(data, last + 1)
            http11 = is_http11(data[last + 1 : stop])
        head = RequestHead.__new__(RequestHead)
        head.begin(method, http11)
        self._lines.begin(data, stop, end, self._most)
        _request_fields(head, data, self._lines, known_host)
        if octet(data, space + 1) != SLASH:
            other_target(head, tls)
        if http11 and not head.host:
            raise BadMessageError(400, "no Host")
        self.end = end + 4
        return head

    def answer(self, data: bytes, seen: int) -> AnswerHead | None:
        """Parse the head of an answer at the front of `data`; return None if it is incomplete."""
        end = find_end(data, seen, self._limit)
        if end < 0:
            return None
        stop = text_end(data, 0)
        status = status_of(data, stop)
        http11 = octet(data, 7) == ONE
        head = AnswerHead.__new__(AnswerHead)
        head.begin(status, http11)
        self._lines.begin(data, stop, end, self._most)
        _answer_fields(head, data, self._lines)
        if not http11 or stop == 12:
            head.rewrite(b"HTTP/1.1 %d %b" % (status, head.text[min(stop, 13) :]))
        self.end = end + 4
        return head


def skip_empty_lines(data: bytes) -> bytes:
    """Remove the empty lines that a server ignores before a request (RFC 9112, 2.2)."""
    if not data.startswith(b"\r\n"):
        return data
    return _EMPTY_LINES.sub(b"", data, count=1)  # one copy, not one per line


def find_end(data: bytes, seen: int, limit: int) -> int:
    """Return the end of the head, or −1 if it is incomplete; `seen` bytes were searched before.

    Bytes that can no longer become a head are refused at once, so that a client that ends its
    lines with a bare LF gets a 400 now instead of a 408 later.
    """
    end = empty_line(data, seen - 3 if seen > 3 else 0)
    if 0 <= end <= limit:
        return end
    lines = data.count(b"\n", seen, limit)
    if lines != data.count(b"\r\n", max(0, seen - 1), limit) or data[:1].translate(None, TOKEN):
        raise BadMessageError(400, "not an HTTP head")
    if end > limit or len(data) > limit + len(END) - 1:
        raise BadMessageError(431, f"a head of more than {limit} bytes")
    return -1


def _request_fields(head: RequestHead, data: bytes, lines: Lines, known_host: bytes) -> None:
    named: list[bytes] | None = None
    text, kept = b"", 0  # `text` holds what is forwarded of data[:kept]
    while lines.next():
        kind = lines.kind
        if kind == HOST:
            _host(head, data, lines.colon + 1, lines.stop, known_host)
            continue
        if kind == LENGTH:
            head.length = content_length(data, lines.colon + 1, lines.stop, head.length)
            if not has_zeros(data, lines.colon + 1, lines.stop):
                continue
        elif kind == EXPECT:
            if head.http11:  # RFC 9110, 10.1.1: Expect in HTTP/1.0 is ignored
                continue
        elif kind == CONNECTION:
            named = _options(data, lines, named)
        elif kind == CODING:
            head.chunked = transfer_coding(lines.value(), head.chunked)
        elif kind >= FORWARDED_FOR:
            _claim(head, kind, lines)
        elif kind == UPGRADE:
            head.upgrade = upgrade_offer(lines.value(), head.upgrade)
        elif kind == DATE:
            continue
        elif kind == MAX_FORWARDS:
            if head.method not in COUNTED:
                continue
            head.hops = max_forwards(lines.value(), head.hops)
        text = extended(text, data, kept, lines.start - 2)
        kept = lines.stop
        if kind == LENGTH:
            text += b"\r\nContent-Length: %d" % head.length
        elif kind == MAX_FORWARDS:
            text += b"\r\nMax-Forwards: %d" % (head.hops - 1)
    if kept:
        head.rewrite(extended(text, data, kept, lines.stop))
    else:
        head.front(data, lines.stop)
    if head.chunked and not head.http11:
        raise BadMessageError(400, "Transfer-Encoding in HTTP/1.0")
    if head.chunked and head.length >= 0:
        raise BadMessageError(400, "both Content-Length and Transfer-Encoding")
    if head.upgrade and not _may_upgrade(head, named):
        head.upgrade = None
    if named is not None:
        head.keep = named is KEEP_ALIVE or (
            b"close" not in named and (head.http11 or b"keep-alive" in named)
        )
        if named is not KEEP_ALIVE and named is not CLOSE:
            head.rewrite(without(head.text, named))


def _options(data: bytes, lines: Lines, before: list[bytes] | None) -> list[bytes]:
    usual = usual_options(data, lines.colon + 1, lines.stop) if before is None else None
    return connection_options(lines.value(), before) if usual is None else usual


def _claim(head: RequestHead, kind: int, lines: Lines) -> None:
    """Keep the value of a claim; for kind PROXY, which does not tell the name, the whole line."""
    if head.claims is None:  # most requests have no claim, and need no list
        head.claims = []
    head.claims.append((kind, lines.line() if kind == PROXY else lines.value().strip(b" \t")))


def _answer_fields(head: AnswerHead, data: bytes, lines: Lines) -> None:
    named: list[bytes] | None = None
    text, kept = b"", 0
    while lines.next():
        kind = lines.kind
        if kind == LENGTH:
            head.length = content_length(data, lines.colon + 1, lines.stop, head.length)
            if not has_zeros(data, lines.colon + 1, lines.stop):
                continue
        elif kind == CONNECTION:
            named = _options(data, lines, named)
        elif kind == CODING:
            head.chunked = transfer_coding(lines.value(), head.chunked)
        elif kind == UPGRADE:
            head.upgrade = upgrade_offer(lines.value(), head.upgrade)
        elif kind == DATE:
            head.dated = True
            continue
        elif kind in (HOST, EXPECT, MAX_FORWARDS):
            continue  # odd in an answer, but forwarded
        elif kind >= FORWARDED_FOR and kind != REQUEST_ID:
            continue  # forwarded; not a request id, as the answer gets that of its request
        text = extended(text, data, kept, lines.start - 2)
        kept = lines.stop
        if kind == LENGTH:
            text += b"\r\nContent-Length: %d" % head.length
    if kept:
        head.rewrite(extended(text, data, kept, lines.stop))
    else:
        head.front(data, lines.stop)
    if head.chunked and (head.length >= 0 or not head.keep):
        raise BadMessageError(502, "chunked beside a Content-Length, or in HTTP/1.0")
    if named is not None:
        # The keep-alive of an HTTP/1.0 worker is not used, because it is unreliable.
        head.keep = head.keep and (named is KEEP_ALIVE or b"close" not in named)
        if named is not KEEP_ALIVE and named is not CLOSE:
            head.dated = head.dated and b"date" not in named
            head.rewrite(without(head.text, named))


def _may_upgrade(head: RequestHead, named: list[bytes] | None) -> bool:
    """Whether the upgrade offer is valid and can be forwarded (RFC 9110, 7.8).

    An offer in a request with a body is not forwarded, as a server may ignore any offer. The worker
    could switch before it has read the body, and then the balancer and the worker would disagree
    where the new protocol begins.
    """
    offered = named is not None and b"upgrade" in named
    return offered and head.http11 and head.length <= 0 and not head.chunked


def _host(head: RequestHead, data: bytes, start: int, stop: int, known: bytes) -> None:
    if octet(data, start) == SPACE:
        start += 1
    if head.host:
        raise BadMessageError(400, "more than one Host")
    head.host = (
        known if known and matches(data, start, stop, known) else authority(data, start, stop)
    )
