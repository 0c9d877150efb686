"""Heads of requests and answers: RFC 9112, read strictly.

Whatever two readers could understand differently is refused: that difference is how requests are
smuggled past a balancer. A head is walked over once, line by line; no Python statement runs per
octet (see octets), and lines that mean nothing to us are not taken apart: what is forwarded are
long slices of what came.
"""

from __future__ import annotations

import re
from ipaddress import AddressValueError, IPv6Address
from typing import TYPE_CHECKING

from steelyard.balancer.alphabets import (
    COLON,
    CR,
    DIGITS,
    NAME,
    ONE,
    PLAIN_HOST,
    SLASH,
    SPACE,
    TARGET,
    TOKEN,
)
from steelyard.balancer.fields import (
    BadMessageError,
    Lines,
    connection_options,
    content_length,
    has_zeros,
    join,
    transfer_coding,
    upgrade_offer,
    usual_options,
    walk,
    without,
)
from steelyard.balancer.names import (
    CODING,
    CONNECTION,
    EXPECT,
    FORWARDED_FOR,
    GET,
    HOST,
    KEEP_ALIVE,
    LENGTH,
    PLAIN,
    POST,
    REQUEST_ID,
    UPGRADE,
)
from steelyard.balancer.octets import (
    cut,
    empty_line,
    extended,
    matches,
    octet,
    run,
    spans,
    text_end,
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
_ABSOLUTE = re.compile(rb"(?i:http(s?))://([^/?]*)(.*)", re.DOTALL)
_EMPTY_LINES = re.compile(rb"\A(?:\r\n)+")
_VERSION = re.compile(rb"HTTP/[0-9]\.[0-9]")


class RequestHead:
    """What a client asks for. `text` is what is forwarded of it as it came: its first line and
    the fields that are not between it and us alone."""

    __slots__ = (
        "chunked",
        "claims",
        "host",
        "http11",
        "keep",
        "length",
        "method",
        "pin",
        "request_id",
        "text",
        "upgrade",
    )

    def __init__(self, method: bytes, text: bytes, http11: bool) -> None:
        self.begin(method, http11)
        self.text = text

    def begin(self, method: bytes, http11: bool) -> None:
        """All but the text, callable as C (see `fields.walk`)."""
        self.method = method
        self.http11 = http11
        self.keep = http11  # the client would like to use the connection again
        self.host = b""
        self.text = b""
        self.length = -1  # none declared
        self.chunked = False
        self.claims: list[tuple[int, bytes]] | None = None  # about its origin: field and value
        self.request_id = b""  # given when it is forwarded
        self.upgrade: list[bytes] | None = None  # the protocols that the client would rather speak
        self.pin: Pin | None = None  # where its session is, when there are such

    @property
    def target(self) -> bytes:
        """What is asked for."""
        return self.text.split(b" ", 2)[1]

    @property
    def lines(self) -> list[bytes]:
        """The fields to forward, one by one."""
        return self.text.split(b"\r\n")[1:]


class AnswerHead:
    """What a worker answers; `text` as in a request's head, and always in HTTP/1.1."""

    __slots__ = ("chunked", "keep", "length", "status", "text", "upgrade")

    def begin(self, status: int, http11: bool) -> None:
        """What `__init__` would do, callable as C (see `fields.walk`)."""
        self.status = status
        self.keep = http11  # the worker would like to use the connection again
        self.text = b""
        self.length = -1
        self.chunked = False
        self.upgrade: list[bytes] | None = None

    @property
    def lines(self) -> list[bytes]:
        """The fields to forward, one by one."""
        return self.text.split(b"\r\n")[1:]


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
    end = empty_line(data, seen - 3 if seen > 3 else 0)
    if 0 <= end <= limit:
        return end
    lines = data.count(b"\n", seen, limit)
    if lines != data.count(b"\r\n", max(0, seen - 1), limit) or data[:1].translate(None, TOKEN):
        raise BadMessageError(400, "not an HTTP head")
    if end > limit or len(data) > limit + len(END) - 1:
        raise BadMessageError(431, f"a head of more than {limit} bytes")
    return -1


def parse_request(
    data: bytes, end: int, most_fields: int, tls: bool = False, known_host: bytes = b""
) -> RequestHead:
    """Read a request head that came over TLS, or not; at `end` is the line end before its empty
    line. Where the Host is known from the last request, it is not looked at again."""
    space = run(data, 0, NAME)
    last = run(data, space + 1, TARGET) if octet(data, space) == SPACE else 0
    if last <= space + 1 or octet(data, last) != SPACE:
        raise _bad_request_line(data)
    method = _method(data, space)
    stop = last + 9
    http11 = matches(data, last + 1, stop, b"HTTP/1.1")
    if not http11 or octet(data, stop) != CR:
        stop = text_end(data, last + 1)
        http11 = _is_http11(data[last + 1 : stop])
    head = RequestHead.__new__(RequestHead)
    head.begin(method, http11)
    _request_fields(head, data, walk(data, stop, end, most_fields), known_host)
    if octet(data, space + 1) != SLASH:
        _other_target(head, tls)
    if http11 and not head.host:
        raise BadMessageError(400, "no Host")
    return head


def parse_answer(data: bytes, end: int, most_fields: int) -> AnswerHead:
    """Read the head of an answer; at `end` is the line end before its empty line."""
    stop = text_end(data, 0)
    lines = walk(data, stop, end, most_fields)
    status = _status(data, stop)
    if not status:
        raise BadMessageError(502, f"bad status line {data[:40]!r}")
    head = AnswerHead.__new__(AnswerHead)
    head.begin(status, octet(data, 7) == ONE)
    _answer_fields(head, data, lines)
    if octet(data, 7) != ONE or stop == 12:
        head.text = b"HTTP/1.1 %d %b" % (status, head.text[min(stop, 13) :])
    return head


def _status(data: bytes, stop: int) -> int:
    """The status of `HTTP/1.x NNN reason`; 0 when the line is not well formed."""
    if stop < 12 or not (matches(data, 0, 9, b"HTTP/1.1 ") or matches(data, 0, 9, b"HTTP/1.0 ")):
        return 0
    if not spans(data, 9, 12, DIGITS):
        return 0
    if stop > 12 and octet(data, 12) != SPACE:
        return 0
    status = 100 * octet(data, 9) + 10 * octet(data, 10) + octet(data, 11) - 111 * 48
    return status if 100 <= status <= 599 else 0


def _bad_request_line(data: bytes) -> BadMessageError:
    parts = data[: text_end(data, 0)].split(b" ")
    if len(parts) != 3:
        return BadMessageError(400, "a request line has three parts and two spaces")
    bad = "method" if not parts[0] or parts[0].translate(None, TOKEN) else "request target"
    return BadMessageError(400, f"bad {bad}")


def _method(data: bytes, end: int) -> bytes:
    if matches(data, 0, end, GET):
        return GET
    if matches(data, 0, end, POST):
        return POST
    method = cut(data, 0, end)
    if method not in _METHODS:
        _other_method(method)
    return method


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


def _request_fields(head: RequestHead, data: bytes, lines: Lines, known_host: bytes) -> None:
    named: list[bytes] | None = None
    kept = 0  # from here on, nothing was left out
    while lines.next():
        kind = lines.kind
        if kind == PLAIN:
            continue
        if kind == HOST:
            _host(head, data, lines.colon + 1, lines.stop, known_host)
            continue
        if kind == LENGTH:
            head.length = content_length(data, lines.colon + 1, lines.stop, head.length)
            if not has_zeros(data, lines.colon + 1, lines.stop):
                continue
        elif kind == EXPECT:
            if head.http11:  # RFC 9110, 10.1.1: one in HTTP/1.0 is ignored
                continue
        elif kind == CONNECTION:
            named = _options(data, lines, named)
        elif kind == CODING:
            head.chunked = transfer_coding(lines.value(), head.chunked)
        elif kind >= FORWARDED_FOR:
            _claim(head, kind, lines.value())
        elif kind == UPGRADE:
            head.upgrade = upgrade_offer(lines.value(), head.upgrade)
        head.text = extended(head.text, data, kept, lines.start - 2)
        kept = lines.stop
        if kind == LENGTH:
            head.text += b"\r\nContent-Length: %d" % head.length
    head.text = extended(head.text, data, kept, lines.stop)
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
        head.text = without(head.text, named)


def _options(data: bytes, lines: Lines, before: list[bytes] | None) -> list[bytes]:
    usual = usual_options(data, lines.colon + 1, lines.stop) if before is None else None
    return connection_options(lines.value(), before) if usual is None else usual


def _claim(head: RequestHead, kind: int, value: bytes) -> None:
    if head.claims is None:  # most requests make none, and need no list
        head.claims = []
    head.claims.append((kind, value.strip(b" \t")))


def _answer_fields(head: AnswerHead, data: bytes, lines: Lines) -> None:
    named: list[bytes] | None = None
    kept = 0
    while lines.next():
        kind = lines.kind
        if kind in (PLAIN, HOST, EXPECT):
            continue  # the last two are odd in an answer, but no business of ours
        if kind == LENGTH:
            head.length = content_length(data, lines.colon + 1, lines.stop, head.length)
            if not has_zeros(data, lines.colon + 1, lines.stop):
                continue
        elif kind == CODING:
            head.chunked = transfer_coding(lines.value(), head.chunked)
        elif kind == CONNECTION:
            named = _options(data, lines, named)
        elif kind == UPGRADE:
            head.upgrade = upgrade_offer(lines.value(), head.upgrade)
        elif kind >= FORWARDED_FOR and kind != REQUEST_ID:
            continue  # a request id is left out: the client gets the one that its request had
        head.text = extended(head.text, data, kept, lines.start - 2)
        kept = lines.stop
        if kind == LENGTH:
            head.text += b"\r\nContent-Length: %d" % head.length
    head.text = extended(head.text, data, kept, lines.stop)
    if head.chunked and (head.length >= 0 or not head.keep):
        raise BadMessageError(502, "chunked beside a Content-Length, or in HTTP/1.0")
    if named is not None:
        # An HTTP/1.0 worker's keep-alive is not used: it cannot be relied on.
        head.keep = head.keep and (named is KEEP_ALIVE or b"close" not in named)
        head.text = without(head.text, named)


def _may_upgrade(head: RequestHead, named: list[bytes] | None) -> bool:
    """Whether the offer counts (RFC 9110, 7.8).

    One beside a body is not passed on, as any offer may be ignored: the worker could switch
    before it has read the body, and two readers would disagree where the new protocol begins.
    """
    offered = named is not None and b"upgrade" in named
    return offered and head.http11 and head.length <= 0 and not head.chunked


def _host(head: RequestHead, data: bytes, start: int, stop: int, known: bytes) -> None:
    if octet(data, start) == SPACE:
        start += 1
    if head.host:
        raise BadMessageError(400, "more than one Host")
    head.host = (
        known if known and matches(data, start, stop, known) else _authority(data, start, stop)
    )


def _authority(data: bytes, start: int, stop: int) -> bytes:
    value = cut(data, start, stop)
    if not _is_plain_host(data, start, stop):
        value = value.strip(b" \t")
        if not _is_authority(value):
            raise BadMessageError(400, "a bad Host")
    return value


def _is_plain_host(data: bytes, start: int, stop: int) -> bool:
    """Whether it is a name as most are, perhaps with a port: what that is needs no regex."""
    end = run(data, start, PLAIN_HOST)
    if end in (start, stop):
        return end > start
    return octet(data, end) == COLON and stop - end <= 6 and spans(data, end + 1, stop, DIGITS)


def _is_authority(value: bytes) -> bool:
    match = _HOST.fullmatch(value)
    if match is None or match[1] is None:
        return match is not None
    try:
        IPv6Address(match[1].decode())
    except AddressValueError:
        return False
    return True


def _other_target(head: RequestHead, tls: bool) -> None:
    """Absolute form becomes origin form, and its authority the Host (RFC 9112, 3.2.2)."""
    match = _ABSOLUTE.fullmatch(head.target)
    if match is not None:
        secure, host, path = match.groups()
        if secure and not tls:  # RFC 9110, 7.4
            raise BadMessageError(400, "an https target, but the connection is not secured")
        if not _is_authority(host):
            raise BadMessageError(400, "bad authority in the request target")
        if head.http11 and not head.host:
            raise BadMessageError(400, "no Host")
        head.host = host
        line = b"Host: " + host
        bare = b"*" if head.method == b"OPTIONS" and not path else b"/"
        target = path if path.startswith(b"/") else bare + path
        start = b"%b %b %b" % (head.method, target, b"HTTP/1.1" if head.http11 else b"HTTP/1.0")
        head.text = start + join([line if _is_host(other) else other for other in head.lines])
    elif head.target != b"*" or head.method != b"OPTIONS":
        raise BadMessageError(400, "bad request target")


def _is_host(line: bytes) -> bool:
    return line.partition(b":")[0].lower() == b"host"
