"""Fields of one connection: these, and the fields that Connection names, are not forwarded."""

from __future__ import annotations

from tests.balancer.cases.case import CHUNKED, HOST, accepted, get, head, post, refused

_CONNECTION = "RFC 9110, 7.6.1"
_UPGRADE = "RFC 9110, 7.8"
_EXPECT = "RFC 9110, 10.1.1"


def _gone(name: str, section: str, why: str, *fields: bytes):
    return accepted(name, section, why, get(HOST, *fields, b"A: b"), lines=(HOST, b"A: b"))


CASES = [
    _gone("close", "RFC 9112, 9.6", "It is about this connection.", b"Connection: close"),
    _gone("keep-alive", "RFC 9112, 9.3", "It is about this connection.", b"Connection: keep-alive"),
    _gone("capitals", _CONNECTION, "Options ignore case.", b"CONNECTION: CLOSE"),
    _gone("close and keep-alive", "RFC 9112, 9.3", "Close wins.", b"Connection: close, keep-alive"),
    _gone("the same option twice", _CONNECTION, "Once is enough.", b"Connection: close, close"),
    _gone("two fields", _CONNECTION, "A list may be spread.", b"Connection: close", b"Connection: x"),
    _gone("named field", _CONNECTION, "Named: gone.", b"Connection: x-a", b"X-A: 1"),
    _gone("named field, before", _CONNECTION, "The order does not matter.", b"X-A: 1", b"Connection: X-a"),
    _gone("named field, repeated", _CONNECTION, "All of them.", b"X-A: 1", b"Connection: x-a", b"x-a: 2"),
    _gone("named, but absent", _CONNECTION, "Nothing to remove.", b"Connection: x-a"),
    _gone("empty elements", "RFC 9110, 5.6.1", "Ignored in a list.", b"Connection: ,, x-a ,", b"X-A: 1"),
    _gone("empty list", "RFC 9110, 5.6.1", "Nothing is named.", b"Connection:"),
    _gone("Keep-Alive", _CONNECTION, "Known to be of one connection.", b"Keep-Alive: timeout=5"),
    _gone("Proxy-Connection", _CONNECTION, "Never a field, but sent.", b"Proxy-Connection: close"),
    _gone("Proxy-Authorization", "RFC 9110, 11.7.2", "For the next proxy: us.", b"Proxy-Authorization: Basic eDp5"),
    _gone("TE", "RFC 9110, 10.1.4", "Known to be of one connection.", b"TE: trailers", b"Connection: TE"),
    _gone("TE, not named", "RFC 9110, 10.1.4", "Even when the sender forgot to name it.", b"TE: gzip;q=0.5"),
    _gone("h2c", _UPGRADE, "A worker must not be talked into a tunnel past us.", b"Connection: Upgrade, HTTP2-Settings", b"Upgrade: h2c", b"HTTP2-Settings: AAMAAABkAARAAAAA"),
    _gone("h2c, not named", _UPGRADE, "Without the option it means nothing.", b"Upgrade: h2c"),
    accepted(
        "another protocol", _UPGRADE, "The worker may switch; we tunnel any protocol.",
        get(HOST, b"Connection: upgrade", b"Upgrade: IRC/6.9"), lines=(HOST, b"Upgrade: IRC/6.9"),
    ),
    accepted("not named", _CONNECTION, "End to end.", get(HOST, b"X-A: 1", b"X-B: 2")),
    accepted(
        "a prefix of the named", _CONNECTION, "Whole names only.",
        get(HOST, b"Connection: x-a", b"X-Ab: 1"), lines=(HOST, b"X-Ab: 1"),
    ),
    accepted(
        "Trailer", "RFC 9110, 6.6.2", "It announces, and travels.",
        post(b"Trailer: X-Sum", CHUNKED, body=b"0\r\nX-Sum: 1\r\n\r\n"),
        lines=(HOST, b"Trailer: X-Sum"), trailers=(b"X-Sum: 1",),
    ),
    accepted(
        "Via", "RFC 9110, 7.6.3", "Earlier entries stay before ours.",
        get(HOST, b"Via: 1.0 fred"), lines=(HOST, b"Via: 1.0 fred"),
    ),
    accepted(
        "Expect", _EXPECT, "It travels to who can answer.",
        post(b"Expect: 100-continue", b"Content-Length: 3", body=b"abc"), body=b"abc",
    ),
    accepted(
        "Expect in capitals", _EXPECT, "The expectation ignores case.",
        post(b"Expect: 100-Continue", b"Content-Length: 3", body=b"abc"), body=b"abc",
    ),
    accepted(
        "Expect without a body", _EXPECT, "A client must not, but no harm is done.",
        get(HOST, b"Expect: 100-continue"),
    ),
    accepted(
        "unknown expectation", _EXPECT, "The worker may answer 417.",
        get(HOST, b"Expect: the-worst"),
    ),
    accepted(
        "keep-alive in HTTP/1.0", "RFC 9112, 9.3", "It is about this connection.",
        head(b"GET / HTTP/1.0", HOST, b"Connection: keep-alive"),
        line=b"GET / HTTP/1.1", lines=(HOST,),
    ),
    refused("names Host", _CONNECTION, "Dropping it would change the route.", get(HOST, b"Connection: Host")),
    refused("names Content-Length", _CONNECTION, "Dropping it would change the frame.", post(b"Content-Length: 3", b"Connection: close, content-length", body=b"abc")),
    refused("option with a blank", _CONNECTION, "A token.", get(HOST, b"Connection: x a")),
    refused("option with a semicolon", _CONNECTION, "A token.", get(HOST, b"Connection: close;x")),
    refused("option in quotes", _CONNECTION, "A token.", get(HOST, b'Connection: "close"')),
    refused("option beyond ASCII", _CONNECTION, "A token.", get(HOST, b"Connection: cl\xf6se")),
]  # fmt: skip
