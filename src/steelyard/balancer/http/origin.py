"""Origin: where a request came from, and the fields that tell a worker so.

What a client says about its own origin (X-Forwarded-*, Forwarded, X-Request-ID, and the other names
of a proxy's fields in `names`) is believed only when the client is one of the trusted proxies; from
anybody else it is dropped, and replaced by what we see where we see it.
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
    """How all requests of a process are marked: which fields, whom to believe, the next id."""

    __slots__ = ("_count", "_networks", "_prefix", "rfc7239", "x_forwarded")

    def __init__(self, forwarded: str, trusted: Sequence[str], prefix: bytes) -> None:
        self.x_forwarded = forwarded != "forwarded"
        self.rfc7239 = forwarded != "x-forwarded"
        self._networks = [ip_network(text) for text in trusted]
        self._prefix = prefix  # random, so that the ids of no two processes are the same
        self._count = 0

    def trusts(self, peer: str) -> bool:
        """Whether what this peer says about origins is believed."""
        if not self._networks:
            return False
        address = ip_address(peer)
        return any(address in network for network in self._networks)

    def origin(self, peer: str, scheme: bytes) -> Origin:
        """What is known of a peer that has just come."""
        peer = plain_address(peer)
        return Origin(peer, b"", scheme, self, self.trusts(peer))

    def next_id(self) -> bytes:
        """A request id. A counter, for a random number per request would cost more than it."""
        self._count += 1
        return numbered(self._prefix, self._count)


class Origin:
    """What is known about the sender of a connection's requests."""

    __slots__ = ("_ending", "_manner", "_usual", "host", "local", "peer", "scheme", "trusted")

    def __init__(
        self, peer: str, local: bytes, scheme: bytes, manner: Manner, trusted: bool
    ) -> None:
        self.peer = peer.encode()  # the client's address
        self.local = local  # the address it connected to: the Host of a client that sent none
        self.scheme = scheme
        self.trusted = trusted
        self._manner = manner
        # All but the host is the same for every request of the connection.
        self._usual = b""
        if manner.x_forwarded and not manner.rfc7239 and not trusted:
            self._usual = _USUAL % (self.peer, scheme)
        # And mostly the host, too: whole endings are kept from one request to the next.
        self.host = b""  # of the last request
        self._ending = b""

    def ending(self, head: RequestHead) -> bytes:
        """What a worker is told behind the client's own fields, up to the request's id."""
        if head.host is self.host and head.http11 and self._ending:
            return self._ending
        ending = self.lines(head) + (VIA_11 if head.http11 else VIA_10)
        if self._usual and head.http11:
            self.host, self._ending = head.host, ending
        return ending

    def lines(self, head: RequestHead) -> bytes:
        """The fields that tell where the request came from, each after a CRLF."""
        host = head.host or self.local
        if self._usual:
            return self._usual + host
        return b"".join(self._all(head, host))

    def request_id(self, head: RequestHead) -> bytes:
        """The id that a trusted proxy gave, or one of ours."""
        if self.trusted and head.claims:
            given = _claimed(head, REQUEST_ID)
            if len(given) == 1 and _WELL_FORMED.fullmatch(given[0]):
                return given[0]
        return self._manner.next_id()

    def secure(self, head: RequestHead) -> bool:
        """Whether the client's own connection is encrypted, as far as we are told."""
        claimed = _claimed(head, FORWARDED_PROTO) if self.trusted else []
        return (claimed or [self.scheme])[0] == b"https"

    def _all(self, head: RequestHead, host: bytes) -> list[bytes]:
        believed = {kind: _claimed(head, kind) if self.trusted else [] for kind in _NAMES}
        if self._manner.x_forwarded:
            believed[FORWARDED_FOR].append(self.peer)
            # Not appended to: workers compare the scheme with one word, and the first proxy knew.
            believed[FORWARDED_PROTO] = believed[FORWARDED_PROTO] or [self.scheme]
            believed[FORWARDED_HOST] = believed[FORWARDED_HOST] or [host]
        if self._manner.rfc7239:
            believed[FORWARDED].append(_element(self.peer, host, self.scheme))
        told = [_NAMES[kind] + b", ".join(values) for kind, values in believed.items() if values]
        others = _claimed(head, PROXY) if self.trusted else []
        return told + [b"\r\n" + line for line in others]


def plain_address(peer: str) -> str:
    """An address as a worker expects it: IPv4 as such, and without our name for the network."""
    return peer.removeprefix("::ffff:").partition("%")[0]


def _claimed(head: RequestHead, kind: int) -> list[bytes]:
    return [value for claim, value in head.claims or () if claim == kind and value]


def _element(peer: bytes, host: bytes, scheme: bytes) -> bytes:
    """RFC 7239, 4: an IPv6 address is in brackets, and whatever is no token in quotes."""
    node = b'"[%b]"' % peer if b":" in peer else peer
    return b'for=%b;host="%b";proto=%b' % (node, host, scheme)
