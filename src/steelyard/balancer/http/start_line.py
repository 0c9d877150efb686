"""Start lines: parses the first line of a request or an answer (RFC 9112, 3 and 4)."""

from __future__ import annotations

import re

from steelyard.balancer.http.alphabets import DIGITS, SPACE, TOKEN
from steelyard.balancer.http.authority import is_authority
from steelyard.balancer.http.fields import BadMessageError, join
from steelyard.balancer.http.heads import RequestHead
from steelyard.balancer.http.names import GET, POST
from steelyard.balancer.io.octets import cut, matches, octet, spans, text_end

# Methods that need no further check (RFC 9110, 9.1; RFC 5789).
_METHODS = frozenset({b"GET", b"HEAD", b"POST", b"PUT", b"DELETE", b"OPTIONS", b"TRACE", b"PATCH"})
_ABSOLUTE = re.compile(rb"(?i:http(s?))://([^/?]*)(.*)", re.DOTALL)
_VERSION = re.compile(rb"HTTP/[0-9]\.[0-9]")


def bad_request_line(data: bytes) -> BadMessageError:
    """Return an error that tells what is wrong with a request line."""
    parts = data[: text_end(data, 0)].split(b" ")
    if len(parts) != 3:
        return BadMessageError(400, "a request line has three parts and two spaces")
    bad = "method" if not parts[0] or parts[0].translate(None, TOKEN) else "request target"
    return BadMessageError(400, f"bad {bad}")


def method_of(data: bytes, end: int) -> bytes:
    """Return the method at the front; always the same object for GET, and for POST."""
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
        # Methods are case-sensitive. A worker that ignores case would answer `head` without a
        # body, and the balancer would wait for the body.
        raise BadMessageError(400, "a method that frames its answer, in the wrong case")


def is_http11(version: bytes) -> bool:
    """Whether a request is in HTTP/1.1 and not in HTTP/1.0; refuse all other versions."""
    if version == b"HTTP/1.1":
        return True
    if version == b"HTTP/1.0":
        return False
    if _VERSION.fullmatch(version):
        raise BadMessageError(505, "only HTTP/1.1 and HTTP/1.0 are spoken here")
    raise BadMessageError(400, "bad HTTP version")


def status_of(data: bytes, stop: int) -> int:
    """Return the status of a status line, `HTTP/1.x NNN reason`."""
    status = 0
    if (
        stop >= 12
        and (matches(data, 0, 9, b"HTTP/1.1 ") or matches(data, 0, 9, b"HTTP/1.0 "))
        and spans(data, 9, 12, DIGITS)
        and (stop == 12 or octet(data, 12) == SPACE)
    ):
        status = 100 * octet(data, 9) + 10 * octet(data, 10) + octet(data, 11) - 111 * 48
    if not 100 <= status <= 599:
        raise BadMessageError(502, f"bad status line {data[:40]!r}")
    return status


def other_target(head: RequestHead, tls: bool) -> None:
    """Handle a target that is no path: rewrite the absolute form to the origin form, with its
    authority as the Host (RFC 9112, 3.2.2); refuse all but `OPTIONS *` otherwise."""
    match = _ABSOLUTE.fullmatch(head.target)
    if match is not None:
        secure, host, path = match.groups()
        if secure and not tls:  # RFC 9110, 7.4, demands this check
            raise BadMessageError(400, "an https target, but the connection is not secured")
        if not is_authority(host):
            raise BadMessageError(400, "bad authority in the request target")
        if head.http11 and not head.host:
            raise BadMessageError(400, "no Host")
        head.host = host
        line = b"Host: " + host
        bare = b"*" if head.method == b"OPTIONS" and not path else b"/"
        target = path if path.startswith(b"/") else bare + path
        start = b"%b %b %b" % (head.method, target, b"HTTP/1.1" if head.http11 else b"HTTP/1.0")
        head.rewrite(start + join([line if _is_host(other) else other for other in head.lines]))
    elif head.target != b"*" or head.method != b"OPTIONS":
        raise BadMessageError(400, "bad request target")


def _is_host(line: bytes) -> bool:
    return line.partition(b":")[0].lower() == b"host"
