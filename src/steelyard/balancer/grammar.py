"""Heads of requests and answers: RFC 9112, read strictly.

Whatever two readers could understand differently is refused: that difference is how requests are
smuggled past a balancer. Everything here works on whole heads with the C-speed methods of bytes
(split, partition, translate, find); no Python statement runs per byte.
"""

from __future__ import annotations

import re
from ipaddress import AddressValueError, IPv6Address
from typing import TYPE_CHECKING

from steelyard.balancer.fields import (
    CODING,
    CONNECTION,
    CONTROLS,
    EXPECT,
    FORWARDED_FOR,
    HOST,
    KINDS,
    LENGTH,
    PLAIN,
    REQUEST_ID,
    TOKEN,
    UPGRADE,
    BadMessageError,
    classify,
    connection_options,
    content_length,
    length_line,
    transfer_coding,
    upgrade_offer,
    without,
)

if TYPE_CHECKING:
    from steelyard.balancer.sticky import Pin

END = b"\r\n\r\n"

# RFC 3986: an IP literal, or a registered name or IPv4 address; never empty (RFC 9110, 4.2.1).
# No comma, though a registered name may have one: a reader that joins fields sees two Hosts.
_HOST = re.compile(
    rb"(?:\[([0-9A-Fa-f:.]+)\]|(?:[A-Za-z0-9._~!$&'()*+;=-]|%[0-9A-Fa-f]{2})+)(?::[0-9]{0,5})?"
)
# Methods that need no second look (RFC 9110, 9.1; RFC 5789).
_METHODS = frozenset({b"GET", b"HEAD", b"POST", b"PUT", b"DELETE", b"OPTIONS", b"TRACE", b"PATCH"})
_ABSOLUTE = re.compile(rb"(?i:http)://([^/?]*)(.*)", re.DOTALL)
# Printable ASCII without `#`: browsers send more than RFC 3986 allows (`|` in queries), but a
# fragment is never sent, and what a reader would make of one is anybody's guess.
_TARGET = bytes(code for code in range(0x21, 0x7F) if code != ord("#"))
_EMPTY_LINES = re.compile(rb"\A(?:\r\n)+")
_VERSION = re.compile(rb"HTTP/[0-9]\.[0-9]")
_STATUS = re.compile(rb"HTTP/1\.([01]) ([1-5][0-9][0-9])( .*)?")


class RequestHead:
    """What a client asks for. `lines` are the fields to forward, as they came."""

    __slots__ = (
        "chunked",
        "claims",
        "host",
        "http11",
        "keep",
        "length",
        "lines",
        "method",
        "pin",
        "request_id",
        "target",
        "upgrade",
    )

    def __init__(self, method: bytes, target: bytes, http11: bool) -> None:
        self.method = method
        self.target = target
        self.http11 = http11
        self.keep = http11  # the client would like to use the connection again
        self.host = b""
        self.lines: list[bytes] = []
        self.length = -1  # none declared
        self.chunked = False
        self.claims: list[tuple[int, bytes]] = []  # about its origin: field and value
        self.request_id = b""  # given when it is forwarded
        self.upgrade: list[bytes] = []  # the protocols that the client would rather speak
        self.pin: Pin | None = None  # where its session is, when there are such


class AnswerHead:
    """What a worker answers. `lines` are the fields to forward, as they came."""

    __slots__ = ("chunked", "keep", "length", "lines", "start", "status", "upgrade")

    def __init__(self, start: bytes, status: int, http11: bool) -> None:
        self.start = start  # the status and its reason
        self.status = status
        self.keep = http11  # the worker would like to use the connection again
        self.lines: list[bytes] = []
        self.length = -1
        self.chunked = False
        self.upgrade: list[bytes] = []


def skip_empty_lines(data: bytes) -> bytes:
    """What follows the empty lines that a server ignores before a request (RFC 9112, 2.2)."""
    if not data.startswith(b"\r\n"):
        return data
    return _EMPTY_LINES.sub(b"", data, count=1)  # not line by line: each would copy the rest


def find_end(data: bytes, seen: int, limit: int) -> int:
    """Where the head ends, or −1 when more must come; `seen` bytes were searched before.

    What can no longer become a head is refused before it is complete, so that a client that
    ends its lines with bare LF gets its 400 now rather than a 408 later.
    """
    end = data.find(END, max(0, seen - 3))
    if 0 <= end <= limit:
        return end
    lines = data.count(b"\n", seen, limit)
    if lines != data.count(b"\r\n", max(0, seen - 1), limit) or data[:1].translate(None, TOKEN):
        raise BadMessageError(400, "not an HTTP head")
    if end > limit or len(data) > limit + len(END) - 1:
        raise BadMessageError(431, f"a head of more than {limit} bytes")
    return -1


def parse_request(data: bytes, most_fields: int) -> RequestHead:
    """Read a request head (without its empty line)."""
    lines = split_lines(data, most_fields)
    parts = lines[0].split(b" ")
    if len(parts) != 3:
        raise BadMessageError(400, "a request line has three parts and two spaces")
    method, target, version = parts
    if method not in _METHODS:
        _other_method(method)
    if not target or target.translate(None, _TARGET):
        raise BadMessageError(400, "bad request target")
    head = RequestHead(method, target, _is_http11(version))
    _request_fields(head, lines)
    if not target.startswith(b"/"):
        _other_target(head)
    if head.http11 and not head.host:
        raise BadMessageError(400, "no Host")
    return head


def parse_answer(data: bytes, most_fields: int) -> AnswerHead:
    """Read the head of an answer (without its empty line)."""
    lines = split_lines(data, most_fields)
    match = _STATUS.fullmatch(lines[0])
    if match is None:
        raise BadMessageError(502, f"bad status line {lines[0][:40]!r}")
    head = AnswerHead(match[2] + (match[3] or b" "), int(match[2]), match[1] == b"1")
    _answer_fields(head, lines)
    return head


def split_lines(data: bytes, most_fields: int) -> list[bytes]:
    """The lines of a head or of trailers, free of control characters and not too many."""
    lines = data.split(b"\r\n")
    breaks = len(lines) - 1
    if data.count(b"\n") != breaks or data.count(b"\r") != breaks:
        raise BadMessageError(400, "a bare CR or LF")
    if len(data.translate(None, CONTROLS)) != len(data):
        raise BadMessageError(400, "a control character")
    if breaks > most_fields:
        raise BadMessageError(431, f"more than {most_fields} fields")
    return lines


def _other_method(method: bytes) -> None:
    if method == b"CONNECT":
        raise BadMessageError(501, "CONNECT is not served here")
    if not method or method.translate(None, TOKEN):
        raise BadMessageError(400, "bad method")
    if method.upper() in (b"HEAD", b"CONNECT"):
        # Methods are case-sensitive, but a worker that does not know that would answer `head`
        # without the body that we, who do, would wait for.
        raise BadMessageError(400, "a method that frames its answer, in the wrong case")


def _is_http11(version: bytes) -> bool:
    if version == b"HTTP/1.1":
        return True
    if version == b"HTTP/1.0":
        return False
    if _VERSION.fullmatch(version):
        raise BadMessageError(505, "only HTTP/1.1 and HTTP/1.0 are spoken here")
    raise BadMessageError(400, "bad HTTP version")


def _request_fields(head: RequestHead, lines: list[bytes]) -> None:
    kept = head.lines
    named: list[bytes] = []
    for line in lines[1:]:
        name, colon, value = line.partition(b":")
        kind = KINDS.get(name, -1)
        if kind < 0:
            kind = classify(name)
        if not colon:
            raise BadMessageError(400, "a field line without a colon")
        if kind == PLAIN:
            kept.append(line)
        elif kind == HOST:
            _host(head, value)
            kept.append(line)
        elif kind == CONNECTION:
            named += connection_options(value)
        elif kind == LENGTH:
            head.length = content_length(value, head.length)
            kept.append(length_line(line, value, head.length))
        elif kind == CODING:
            head.chunked = transfer_coding(value, head.chunked)
        elif kind == EXPECT:
            if head.http11:  # RFC 9110, 10.1.1: one in HTTP/1.0 is ignored
                kept.append(line)
        elif kind >= FORWARDED_FOR:
            head.claims.append((kind, value.strip(b" \t")))
        elif kind == UPGRADE:
            head.upgrade += upgrade_offer(value)
    if head.chunked and not head.http11:
        raise BadMessageError(400, "Transfer-Encoding in HTTP/1.0")
    if head.chunked and head.length >= 0:
        raise BadMessageError(400, "both Content-Length and Transfer-Encoding")
    if head.upgrade and not _may_upgrade(head, named):
        head.upgrade = []
    if named:
        head.keep = b"close" not in named and (head.http11 or b"keep-alive" in named)
        if named not in ([b"keep-alive"], [b"close"]):
            head.lines = without(kept, named)


def _answer_fields(head: AnswerHead, lines: list[bytes]) -> None:
    kept = head.lines
    named: list[bytes] = []
    for line in lines[1:]:
        name, colon, value = line.partition(b":")
        kind = KINDS.get(name, -1)
        if kind < 0:
            kind = classify(name)
        if not colon:
            raise BadMessageError(502, "a field line without a colon")
        if kind == PLAIN:
            kept.append(line)
        elif kind == LENGTH:
            head.length = content_length(value, head.length)
            kept.append(length_line(line, value, head.length))
        elif kind == CODING:
            head.chunked = transfer_coding(value, head.chunked)
        elif kind == CONNECTION:
            named += connection_options(value)
        elif kind == UPGRADE:
            head.upgrade += upgrade_offer(value)
        elif kind == REQUEST_ID:  # the client gets the one that its request had
            continue
        elif kind >= HOST:  # an odd field in an answer, but no business of ours
            kept.append(line)
    if head.chunked and (head.length >= 0 or not head.keep):
        raise BadMessageError(502, "chunked beside a Content-Length, or in HTTP/1.0")
    if named:
        # An HTTP/1.0 worker's keep-alive is not used: it cannot be relied on.
        head.keep = head.keep and b"close" not in named
        if named not in ([b"keep-alive"], [b"close"]):
            head.lines = without(kept, named)


def _may_upgrade(head: RequestHead, named: list[bytes]) -> bool:
    """Whether the offer counts (RFC 9110, 7.8).

    One beside a body is not passed on, as any offer may be ignored: the worker could switch
    before it has read the body, and two readers would disagree where the new protocol begins.
    """
    return head.http11 and b"upgrade" in named and head.length <= 0 and not head.chunked


def _host(head: RequestHead, value: bytes) -> None:
    value = value.strip(b" \t")
    if head.host or not _is_authority(value):
        raise BadMessageError(400, "more than one Host, or a bad one")
    head.host = value


def _is_authority(value: bytes) -> bool:
    match = _HOST.fullmatch(value)
    if match is None or match[1] is None:
        return match is not None
    try:
        IPv6Address(match[1].decode())
    except AddressValueError:
        return False
    return True


def _other_target(head: RequestHead) -> None:
    """Absolute form becomes origin form, and its authority the Host (RFC 9112, 3.2.2)."""
    match = _ABSOLUTE.fullmatch(head.target)
    if match is not None:
        host, path = match.groups()
        if not _is_authority(host):
            raise BadMessageError(400, "bad authority in the request target")
        if head.http11 and not head.host:
            raise BadMessageError(400, "no Host")
        head.host = host
        line = b"Host: " + host
        head.lines = [line if _is_host(other) else other for other in head.lines]
        bare = b"*" if head.method == b"OPTIONS" and not path else b"/"
        head.target = path if path.startswith(b"/") else bare + path
    elif head.target != b"*" or head.method != b"OPTIONS":
        raise BadMessageError(400, "bad request target")


def _is_host(line: bytes) -> bool:
    return line.partition(b":")[0].lower() == b"host"
