"""Max-Forwards: how many proxies may still forward an OPTIONS or a TRACE."""

from __future__ import annotations

from tests.balancer.cases.case import HOST, accepted, get, head, refused

_SECTION = "RFC 9110, 7.6.2"


def _asks(*fields: bytes, method: bytes = b"OPTIONS") -> bytes:
    return head(method + b" / HTTP/1.1", HOST, *fields)


def _seen(value: bytes) -> tuple[bytes, ...]:
    return (HOST, b"Max-Forwards: " + value)


CASES = [
    accepted("one", _SECTION, "One less is 0.", _asks(b"Max-Forwards: 1"), lines=_seen(b"0")),
    accepted("ten", _SECTION, "One less is 9.", _asks(b"max-forwards:10 "), lines=_seen(b"9")),
    accepted(
        "TRACE", _SECTION, "It counts for TRACE as well.",
        _asks(b"Max-Forwards: 3", method=b"TRACE"), lines=_seen(b"2"),
    ),
    accepted(
        "leading zeros", _SECTION, "1*DIGIT has any number of digits.",
        _asks(b"Max-Forwards: 0000000000000000000002"), lines=_seen(b"1"),
    ),
    accepted(
        "more than anybody counts", _SECTION, "A proxy sends no more than it supports.",
        _asks(b"Max-Forwards: " + b"9" * 400), lines=_seen(b"999999999"),
    ),
    accepted(
        "its place among the fields", "RFC 9110, 5.3", "Only its value changes.",
        _asks(b"A: 1", b"Max-Forwards: 5", b"B: 2"),
        lines=(HOST, b"A: 1", b"Max-Forwards: 4", b"B: 2"),
    ),
    accepted("GET", _SECTION, "Other methods may ignore it.", get(HOST, b"Max-Forwards: 0")),
    accepted("GET, no number", _SECTION, "Not read, so not refused.", get(HOST, b"Max-Forwards: x")),
    refused("negative", _SECTION, "No sign in 1*DIGIT.", _asks(b"Max-Forwards: -1")),
    refused("empty", _SECTION, "At least one digit.", _asks(b"Max-Forwards:")),
    refused("hexadecimal", _SECTION, "Digits are decimal.", _asks(b"Max-Forwards: 0x1")),
    refused("a list", _SECTION, "It is no list.", _asks(b"Max-Forwards: 1, 2")),
    refused("twice", "RFC 9110, 5.3", "No list, so once.", _asks(b"Max-Forwards: 1", b"Max-Forwards: 1")),
]  # fmt: skip
