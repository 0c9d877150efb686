"""Messages that the balancer accepts and another parser refuses, and why the balancer is right.

There are no other exceptions. The forwarded message is read alike by all parsers, except that the
first exception, an unknown method, is forwarded as it is.
"""

from __future__ import annotations

import re
from collections.abc import Callable

from steelyard.balancer.http.grammar import skip_empty_lines

_KNOWN = frozenset(
    b"GET HEAD POST PUT DELETE OPTIONS PATCH TRACE CONNECT COPY LOCK MKCOL MOVE PROPFIND PROPPATCH "
    b"SEARCH UNLOCK BIND REBIND UNBIND ACL REPORT MKACTIVITY CHECKOUT MERGE M-SEARCH NOTIFY "
    b"SUBSCRIBE UNSUBSCRIBE PURGE MKCALENDAR LINK UNLINK SOURCE QUERY".split()
)


def unknown_method(raw: bytes) -> bool:
    """llhttp has a list of methods; RFC 9110, 9.1 leaves the set of methods open."""
    return skip_empty_lines(raw).partition(b" ")[0] not in _KNOWN


def empty_lines(raw: bytes) -> bool:
    """h11 refuses an empty line before a request; RFC 9112, 2.2 asks servers to ignore it."""
    return raw.startswith(b"\r\n")


def upgrade(raw: bytes) -> bool:
    """llhttp stops after a head with Upgrade: the rest may be another protocol (RFC 9110, 7.8)."""
    return re.search(rb"(?i)\r\nupgrade:", raw) is not None


def bad_whitespace(raw: bytes) -> bool:
    """h11 and llhttp refuse blanks in a chunk extension; RFC 9112, 7.1.1 requires to parse them."""
    return re.search(rb"\r\n[0-9A-Fa-f]+[^\r\n]*([ \t][;=]|[;=][ \t])", raw) is not None


def tabbed_coding(raw: bytes) -> bool:
    """llhttp refuses a tab around `chunked`; OWS is SP or HTAB (RFC 9110, 5.6.3)."""
    return (
        re.search(rb"(?i)\r\ntransfer-encoding:[ \t]*(\tchunked|chunked[ \t]*\t)", raw) is not None
    )


Reason = Callable[[bytes], bool]
H11: tuple[Reason, ...] = (empty_lines, bad_whitespace)
LLHTTP: tuple[Reason, ...] = (
    unknown_method,
    upgrade,
    bad_whitespace,
    tabbed_coding,
)
FORWARDED: tuple[Reason, ...] = (unknown_method,)
LLHTTP_ANSWER: tuple[Reason, ...] = (upgrade, bad_whitespace, tabbed_coding)
