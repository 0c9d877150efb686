"""Answers that have no body, whatever their fields say, and interim answers."""

from __future__ import annotations

from tests.balancer.cases.case import CHUNKED, head, malformed, relayed

_FRAMING = "RFC 9112, 6.3"
_LENGTH = "RFC 9110, 8.6"
_INTERIM = "RFC 9110, 15.2"
_OK = b"HTTP/1.1 200 OK"
_NONE = b"HTTP/1.1 204 No Content"
_SAME = b"HTTP/1.1 304 Not Modified"
_L3 = b"Content-Length: 3"
_FINAL = head(_OK, _L3) + b"abc"
_HINTS = b"HTTP/1.1 103 Early Hints"


def _early(name: str, section: str, why: str, *heads: bytes, interim: tuple[bytes, ...]):
    raw = b"".join(heads) + _FINAL
    return relayed(name, section, why, raw, start=_OK, lines=(_L3,), body=b"abc", interim=interim)


CASES = [
    relayed("204", _FRAMING, "It ends with its head.", head(_NONE, b"A: b")),
    relayed("204 with a length", _LENGTH, "A server must not; it is removed.", head(_NONE, _L3, b"A: b"), lines=(b"A: b",)),
    relayed("204 with chunked", "RFC 9112, 6.1", "A server must not; it is removed.", head(_NONE, CHUNKED), lines=()),
    relayed("204 with a body", _FRAMING, "The rest is no answer.", head(_NONE) + b"abc"),
    relayed("304", _FRAMING, "It ends with its head.", head(_SAME, b'ETag: "a"')),
    relayed("304 with a length", _LENGTH, "What a 200 would have had.", head(_SAME, _L3)),
    relayed("304 with chunked", "RFC 9112, 6.1", "Allowed, and of one connection.", head(_SAME, CHUNKED), lines=()),
    relayed("205", "RFC 9110, 15.3.6", "Framed as any other.", head(b"HTTP/1.1 205 Reset Content", b"Content-Length: 0")),
    relayed("HEAD", _FRAMING, "It ends with its head.", head(_OK, _L3), to=b"HEAD"),
    relayed("HEAD without a length", _FRAMING, "It ends with its head.", head(_OK, b"A: b"), to=b"HEAD"),
    relayed("HEAD with chunked", "RFC 9112, 6.1", "Allowed, and of one connection.", head(_OK, CHUNKED), lines=(), to=b"HEAD"),
    relayed("HEAD with a body", _FRAMING, "The rest is no answer.", _FINAL, to=b"HEAD"),
    relayed("HEAD that failed", _FRAMING, "Any status.", head(b"HTTP/1.1 404 Not Found", _L3), to=b"HEAD"),
    relayed("POST with an empty answer", _FRAMING, "A length of zero.", head(_OK, b"Content-Length: 0"), to=b"POST"),
    malformed("HEAD with two lengths", _FRAMING, "No body, but a bad head.", head(_OK, _L3, b"Content-Length: 4"), to=b"HEAD"),
    malformed("304 with a length and chunks", "RFC 9112, 6.1", "No body, but a bad head.", head(_SAME, _L3, CHUNKED)),
    _early("103", "RFC 8297, 2", "It travels before the answer.", head(_HINTS, b"Link: </a>"), interim=(head(_HINTS, b"Link: </a>"),)),
    _early("100, then 103", _INTERIM, "As many as come.", head(b"HTTP/1.1 100 Continue"), head(_HINTS), interim=(head(b"HTTP/1.1 100 Continue"), head(_HINTS))),
    _early("unknown 1xx", _INTERIM, "Its class is known.", head(b"HTTP/1.1 199 Odd"), interim=(head(b"HTTP/1.1 199 Odd"),)),
    _early("1xx with a length", _LENGTH, "A server must not; it is removed.", head(_HINTS, _L3, b"A: b"), interim=(head(_HINTS, b"A: b"),)),
    _early("1xx with chunked", "RFC 9112, 6.1", "A server must not; it is removed.", head(_HINTS, CHUNKED), interim=(head(_HINTS),)),
    _early("1xx with Connection", "RFC 9110, 7.6.1", "Of one connection.", head(_HINTS, b"Connection: close"), interim=(head(_HINTS),)),
    malformed("101 unasked", "RFC 9110, 15.2.2", "We sent no Upgrade.", head(b"HTTP/1.1 101 Switching Protocols", b"Upgrade: h2c") + b"abc"),
    malformed("only an interim", _INTERIM, "A final answer must follow.", head(b"HTTP/1.1 103 ")[:-2]),
    malformed("bad head behind an interim", _INTERIM, "Each head for itself.", head(b"HTTP/1.1 103\t")),
]  # fmt: skip
