"""Status lines, fields and framing of answers; a malformed answer becomes a 502."""

from __future__ import annotations

from tests.balancer.cases.case import CHUNKED, head, malformed, relayed

_LINE = "RFC 9112, 4"
_FRAMING = "RFC 9112, 6.3"
_FIELDS = "RFC 9112, 5"
_OK = b"HTTP/1.1 200 OK"
_L3 = b"Content-Length: 3"


def _line(name: str, why: str, line: bytes, start: bytes | None = None):
    return relayed(name, _LINE, why, head(line, _L3) + b"abc", start=start, body=b"abc")


def _bad(name: str, why: str, line: bytes):
    return malformed(name, _LINE, why, head(line, _L3) + b"abc")


def _odd(name: str, section: str, why: str, *fields: bytes):
    return malformed(name, section, why, head(_OK, *fields) + b"3\r\nabc\r\n0\r\n\r\n")


CASES = [
    _line("plain", "The usual form.", _OK),
    _line("no reason", "It may be empty.", b"HTTP/1.1 200 "),
    _line("no space", "Sent by some servers; made right.", b"HTTP/1.1 200", b"HTTP/1.1 200 "),
    _line("long reason", "Text.", b"HTTP/1.1 404 Not Found, Not At All"),
    _line("reason beyond ASCII", "obs-text.", b"HTTP/1.1 200 \xd6K"),
    _line("tab in the reason", "HTAB.", b"HTTP/1.1 200 O\tK"),
    _line("reason of two blanks", "Blanks are text.", b"HTTP/1.1 200  OK"),
    _line("HTTP/1.0", "A balancer speaks its own version.", b"HTTP/1.0 200 OK", b"HTTP/1.1 200 OK"),
    _line("unknown status", "Its class is known.", b"HTTP/1.1 299 Odd"),
    _line("status 599", "Its class is known.", b"HTTP/1.1 599 Odd"),
    _bad("HTTP/2", "Not HTTP/1.", b"HTTP/2 200 OK"),
    _bad("HTTP/1.2", "There is none.", b"HTTP/1.2 200 OK"),
    _bad("lower case", "The name is case-sensitive.", b"http/1.1 200 OK"),
    _bad("ICY", "Not HTTP.", b"ICY 200 OK"),
    _bad("another protocol", "Not HTTP.", b"220 mail.a.org ESMTP"),
    _bad("two digits", "Three.", b"HTTP/1.1 20 OK"),
    _bad("four digits", "Three.", b"HTTP/1.1 2000 OK"),
    _bad("status 099", "No such class.", b"HTTP/1.1 099 OK"),
    _bad("status 600", "No such class.", b"HTTP/1.1 600 OK"),
    _bad("status in letters", "Digits.", b"HTTP/1.1 OK 200"),
    _bad("status with a sign", "Digits.", b"HTTP/1.1 +20 OK"),
    _bad("two spaces", "One SP.", b"HTTP/1.1  200 OK"),
    _bad("tab for the space", "SP.", b"HTTP/1.1\t200 OK"),
    _bad("glued reason", "SP.", b"HTTP/1.1 200OK"),
    _bad("leading space", "Nothing is before the version.", b" HTTP/1.1 200 OK"),
    _bad("NUL in the reason", "Text.", b"HTTP/1.1 200 O\0K"),
    _bad("bare CR in the reason", "Text.", b"HTTP/1.1 200 O\rK"),
    _bad("a request", "A status line was due.", b"GET / HTTP/1.1"),
    malformed("empty line before", "RFC 9112, 2.2", "Only before requests.", b"\r\n" + head(_OK, _L3) + b"abc"),
    malformed("LF everywhere", "RFC 9112, 2.2", "As in requests.", b"HTTP/1.1 200 OK\nContent-Length: 3\n\nabc"),
    malformed("no head at all", _LINE, "HTTP/0.9.", b"<html>hello</html>"),
    malformed("cut head", "RFC 9112, 8", "Incomplete.", b"HTTP/1.1 200 OK\r\nContent-Le"),
    malformed("nothing", "RFC 9112, 8", "Incomplete.", b""),
    relayed("two cookies", "RFC 9110, 5.3", "Kept apart, in order.", head(_OK, b"Set-Cookie: b", _L3, b"Set-Cookie: a") + b"abc", body=b"abc"),
    relayed("odd fields", "RFC 9110, 5.1", "Opaque.", head(_OK, b"X_Y: \xfc", b"Host: x", b"Expect: y", _L3) + b"abc", body=b"abc"),
    relayed("fields of the connection", "RFC 9110, 7.6.1", "Gone.", head(_OK, b"Connection: x-a", b"X-A: b", b"Keep-Alive: timeout=5", _L3) + b"abc", lines=(_L3,), body=b"abc"),
    relayed("Proxy-Authenticate", "RFC 9110, 11.7.1", "For one connection.", head(_OK, b"Proxy-Authenticate: Basic", _L3) + b"abc", lines=(_L3,), body=b"abc"),
    relayed("leading zeros", "RFC 9110, 8.6", "Made plain on the way.", head(_OK, b"Content-Length: 003") + b"abc", lines=(_L3,), body=b"abc"),
    relayed("no framing", _FRAMING, "The end of the connection is the end.", head(_OK, b"A: b") + b"abc", body=b"abc"),
    relayed("no framing in HTTP/1.0", _FRAMING, "As ever.", head(b"HTTP/1.0 200 OK") + b"abc", start=_OK, body=b"abc"),
    relayed("chunked", "RFC 9112, 7.1", "Framed anew.", head(_OK, CHUNKED) + b"3;x=y\r\nabc\r\n0\r\nT: u\r\n\r\n", lines=(), body=b"abc", trailers=(b"T: u",)),
    relayed("more than its length", _FRAMING, "The rest is no answer, and the connection is dropped.", head(_OK, _L3) + b"abcHTTP/1.1 200 OK\r\n\r\n", body=b"abc"),
    _odd("length and chunks", "RFC 9112, 6.1", "Response splitting.", _L3, CHUNKED),
    _odd("two lengths", _FRAMING, "Unrecoverable: 502.", _L3, b"Content-Length: 13"),
    _odd("the same length twice", _FRAMING, "Refusing is allowed, and simpler.", _L3, _L3),
    _odd("a list of lengths", _FRAMING, "As above.", b"Content-Length: 3, 3"),
    _odd("bad length", _FRAMING, "Unrecoverable: 502.", b"Content-Length: +3"),
    _odd("empty length", _FRAMING, "Unrecoverable: 502.", b"Content-Length:"),
    _odd("gzip as transfer coding", _FRAMING, "A coding that we do not undo.", b"Transfer-Encoding: gzip, chunked"),
    _odd("identity", "RFC 9112, 7", "Gone since RFC 7230.", b"Transfer-Encoding: identity"),
    _odd("chunked twice", "RFC 9112, 6.1", "A sender must not.", CHUNKED, CHUNKED),
    malformed("chunked in HTTP/1.0", "RFC 9112, 6.1", "A server must not.", head(b"HTTP/1.0 200 OK", CHUNKED) + b"0\r\n\r\n"),
    _odd("names Content-Length", "RFC 9110, 7.6.1", "Dropping it would change the frame.", b"Connection: content-length", _L3),
    _odd("fold", "RFC 9112, 5.2", "Replace, or 502.", b"A: b", b" c"),
    _odd("space before the colon", "RFC 9112, 5.1", "Remove, or 502.", b"A : b"),
    _odd("no colon", _FIELDS, "No field.", b"Server"),
    _odd("NUL", "RFC 9110, 5.5", "As in requests.", b"A: \0"),
    _odd("bare CR", "RFC 9112, 2.2", "As in requests.", b"A: b\rC: d"),
    _odd("bare LF", "RFC 9112, 2.2", "Header injection's favourite.", b"A: b\nSet-Cookie: c"),
    _odd("101 fields", "RFC 6585, 5", "Beyond the limit.", *[b"A: b"] * 101),
    _odd("40 KiB of fields", "RFC 6585, 5", "Beyond the limit.", *[b"A: " + b"b" * 1000] * 40),
]  # fmt: skip
