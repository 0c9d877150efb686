"""Origin: the origin of a request, and the fields that tell a worker the origin.

The balancer trusts a client's claims about the origin (X-Forwarded-*, Forwarded, X-Request-ID, and
the other fields of a proxy in `names`) only if the client is a trusted proxy. It removes the claims
of other clients, and adds what it knows itself.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from ipaddress import ip_address, ip_network

from steelyard.balancer.http.heads import RequestHead
from steelyard.balancer.http.names import (
    FORWARDED,
    FORWARDED_FOR,
    FORWARDED_HOST,
    FORWARDED_PROTO,
    PROXY,
    REQUEST_ID,
)
from steelyard.balancer.io.octets import numbered

_NAMES = {
    FORWARDED_FOR: b"\r\nX-Forwarded-For: ",
    FORWARDED_PROTO: b"\r\nX-Forwarded-Proto: ",
    FORWARDED_HOST: b"\r\nX-Forwarded-Host: ",
    FORWARDED: b"\r\nForwarded: ",
}
_USUAL = b"\r\nX-Forwarded-For: %b\r\nX-Forwarded-Proto: %b\r\nX-Forwarded-Host: "
NAME = b"steelyard"
VIA_11 = b"\r\nVia: 1.1 " + NAME + b"\r\nX-Request-ID: "
VIA_10 = b"\r\nVia: 1.0 " + NAME + b"\r\nX-Request-ID: "
_WELL_FORMED = re.compile(rb"[A-Za-z0-9._~+/=:@-]{1,128}")


class Manner:
    """The settings for the origin fields of a process, its trusted proxies, and its request ids."""

    __slots__ = ("_count", "_networks", "_prefix", "rfc7239", "x_forwarded")

    def __init__(self, forwarded: str, trusted: Sequence[str], prefix: bytes) -> None:
        self.x_forwarded = forwarded != "forwarded"
        self.rfc7239 = forwarded != "x-forwarded"
        self._networks = [ip_network(text) for text in trusted]
        self._prefix = prefix  # random, so that ids of different processes differ
        self._count = 0

    def trusts(self, peer: str) -> bool:
        """Whether the peer is a trusted proxy."""
        if not self._networks:
            return False
        address = ip_address(peer)
        return any(address in network for network in self._networks)

    def origin(self, peer: str, scheme: bytes) -> Origin:
        """Return the origin of requests from a peer that has just connected."""
        peer = plain_address(peer)
        return Origin(peer, b"", scheme, self, self.trusts(peer))

    def next_id(self) -> bytes:
        """Return a new request id. It contains a counter, as a random number would cost more."""
        self._count += 1
        return numbered(self._prefix, self._count)


class Origin:
    """The origin of the requests of one connection."""

    __slots__ = ("_ending", "_manner", "_usual", "host", "local", "peer", "scheme", "trusted")

    def __init__(
        self, peer: str, local: bytes, scheme: bytes, manner: Manner, trusted: bool
    ) -> None:
        self.peer = peer.encode()  # the client's address
        self.local = local  # the address that the client connected to, used if it sends no Host
        self.scheme = scheme
        self.trusted = trusted
        self._manner = manner
        # These fields, except the host, are the same for all requests of the connection.
        self._usual = b""
        if manner.x_forwarded and not manner.rfc7239 and not trusted:
            self._usual = _USUAL % (self.peer, scheme)
        # The host is mostly the same, too: the whole ending is kept for the next request.
        self.host = b""  # the Host that `_ending` was made for
        self._ending = b""

    def ending(self, head: RequestHead) -> bytes:
        """Return the fields behind the client's own fields, up to the value of X-Request-ID."""
        if head.host is self.host and head.http11 and self._ending:
            return self._ending
        ending = self.lines(head) + (VIA_11 if head.http11 else VIA_10)
        if self._usual and head.http11:
            self.host, self._ending = head.host, ending
        return ending

    def lines(self, head: RequestHead) -> bytes:
        """Return the fields that tell the origin of the request, each after a CRLF."""
        host = head.host or self.local
        if self._usual:
            return self._usual + host
        return b"".join(self._all(head, host))

    def request_id(self, head: RequestHead) -> bytes:
        """Return the id from a trusted proxy, or a new one."""
        if self.trusted and head.claims:
            given = _claimed(head, REQUEST_ID)
            if len(given) == 1 and _WELL_FORMED.fullmatch(given[0]):
                return given[0]
        return self._manner.next_id()

    def secure(self, head: RequestHead) -> bool:
        """Whether the client's own connection is encrypted, as far as the balancer knows."""
        claimed = _claimed(head, FORWARDED_PROTO) if self.trusted else []
        return (claimed or [self.scheme])[0] == b"https"

    def _all(self, head: RequestHead, host: bytes) -> list[bytes]:
        believed = {kind: _claimed(head, kind) if self.trusted else [] for kind in _NAMES}
        if self._manner.x_forwarded:
            believed[FORWARDED_FOR].append(self.peer)
            # Nothing is appended to a claimed scheme or host: workers expect one value, and the
            # first proxy knew it.
            believed[FORWARDED_PROTO] = believed[FORWARDED_PROTO] or [self.scheme]
            believed[FORWARDED_HOST] = believed[FORWARDED_HOST] or [host]
        if self._manner.rfc7239:
            believed[FORWARDED].append(_element(self.peer, host, self.scheme))
        told = [_NAMES[kind] + b", ".join(values) for kind, values in believed.items() if values]
        others = _claimed(head, PROXY) if self.trusted else []
        return told + [b"\r\n" + line for line in others]


def plain_address(peer: str) -> str:
    """Return an address as a worker expects it: IPv4 not mapped into IPv6, and no zone id."""
    return peer.removeprefix("::ffff:").partition("%")[0]


def _claimed(head: RequestHead, kind: int) -> list[bytes]:
    return [value for claim, value in head.claims or () if claim == kind and value]


def _element(peer: bytes, host: bytes, scheme: bytes) -> bytes:
    """Return a Forwarded element; IPv6 addresses need brackets and quotes (RFC 7239, 4 and 6)."""
    node = b'"[%b]"' % peer if b":" in peer else peer
    return b'for=%b;host="%b";proto=%b' % (node, host, scheme)
