"""Trailers: fields after the last chunk, none of which may frame or route a message."""

from __future__ import annotations

from tests.balancer.cases.case import broken, decoded

_SECTION = "RFC 9112, 7.1.2"
_LIMITS = "RFC 9110, 6.5.1"
_DATA = b"3\r\nabc\r\n0\r\n"


def _dropped(name: str, why: str, field: bytes):
    raw = _DATA + b"A: b\r\n" + field + b"\r\nC: d\r\n\r\n"
    return decoded(name, _LIMITS, why, raw, b"abc", b"A: b", b"C: d")


def _bad(name: str, section: str, why: str, lines: bytes, status: int = 400):
    return broken(name, section, why, _DATA + lines + b"\r\n\r\n", status)


CASES = [
    decoded("one", _SECTION, "It travels on.", _DATA + b"X-Sum: 1\r\n\r\n", b"abc", b"X-Sum: 1"),
    decoded("repeated", _SECTION, "Order is kept.", _DATA + b"B: 1\r\nA: 2\r\nB: 3\r\n\r\n", b"abc", b"B: 1", b"A: 2", b"B: 3"),
    decoded("empty value", _SECTION, "As in heads.", _DATA + b"X:\r\n\r\n", b"abc", b"X:"),
    decoded("obs-text", _SECTION, "As in heads.", _DATA + b"X: \xfc\r\n\r\n", b"abc", b"X: \xfc"),
    decoded("nothing but a trailer", _SECTION, "Chunks may be none.", b"0\r\nX: y\r\n\r\n", b"", b"X: y"),
    decoded("a hundred", _SECTION, "Within the limit.", _DATA + b"A: b\r\n" * 100 + b"\r\n", b"abc", *[b"A: b"] * 100),
    _dropped("Host", "A trailer must not route.", b"Host: b.org"),
    _dropped("Connection", "It belongs to one connection.", b"Connection: close"),
    _dropped("X-Forwarded-For", "Merged into the head it would be believed.", b"X-Forwarded-For: 1.2.3.4"),
    _dropped("Expect", "A request modifier.", b"Expect: 100-continue"),
    _dropped("TE", "It belongs to one connection.", b"te: trailers"),
    _dropped("Upgrade", "It belongs to one connection.", b"Upgrade: h2c"),
    _dropped("Proxy-Authorization", "It belongs to one connection.", b"Proxy-Authorization: Basic eDp5"),
    _bad("Content-Length", _LIMITS, "A trailer must not frame.", b"X: y\r\nContent-Length: 5"),
    _bad("Transfer-Encoding", _LIMITS, "A trailer must not frame.", b"transfer-encoding: chunked"),
    _bad("no colon", "RFC 9112, 5", "No field.", b"Nonsense"),
    _bad("known name without a colon", "RFC 9112, 5", "No field.", b"Accept"),
    _bad("a request", "RFC 9112, 5", "No field, but a request to those who stop early.", b"GET /admin HTTP/1.1\r\nHost: a.org"),
    _bad("space before the colon", "RFC 9112, 5.1", "As in heads.", b"X : y"),
    _bad("fold", "RFC 9112, 5.2", "As in heads.", b"X: y\r\n z"),
    _bad("fold at once", "RFC 9112, 5.2", "As in heads.", b" X: y"),
    _bad("no name", "RFC 9110, 5.1", "As in heads.", b": y"),
    _bad("underscore", "RFC 3875, 4.1.18", "As in heads.", b"Content_Length: 5"),
    _bad("NUL", "RFC 9110, 5.5", "As in heads.", b"X: \0"),
    _bad("vertical tab", "RFC 9110, 5.5", "As in heads.", b"X: \x0b"),
    _bad("bare LF", "RFC 9112, 2.2", "As in heads.", b"X: y\nZ: z"),
    _bad("bare CR", "RFC 9112, 2.2", "As in heads.", b"X: y\rZ: z"),
    _bad("LF LF", "RFC 9112, 2.2", "The end to some.", b"X: y\n\nGET / HTTP/1.1"),
    _bad("a hundred and one", "RFC 6585, 5", "Beyond the limit.", b"\r\n".join([b"A: b"] * 101), 431),
    _bad("20,000 bytes", "RFC 6585, 5", "Beyond the limit.", b"A: " + b"b" * 20_000, 431),
]  # fmt: skip
