"""Transfer-Encoding: `chunked`, once, in no spelling that only some parsers recognise."""

from __future__ import annotations

from tests.balancer.cases.case import CHUNKED, HOST, accepted, head, post, refused

_FIELD = "RFC 9112, 6.1"
_CODING = "RFC 9112, 7"
_BODY = b"3\r\nabc\r\n0\r\n\r\n"


def _good(name: str, section: str, why: str, field: bytes):
    return accepted(name, section, why, post(field, body=_BODY), lines=(HOST,), body=b"abc")


def _bad(name: str, section: str, why: str, *fields: bytes):
    return refused(name, section, why, post(*fields, body=_BODY))


CASES = [
    _good("chunked", _FIELD, "The one coding.", CHUNKED),
    _good("capitals", _CODING, "Codings ignore case.", b"Transfer-Encoding: CHUNKED"),
    _good("other case of the name", "RFC 9110, 5.1", "Names ignore case.", b"tRANSFER-eNCODING: chunked"),
    _good("no space", "RFC 9112, 5", "It is optional.", b"Transfer-Encoding:chunked"),
    _good("blanks around", "RFC 9112, 5", "They do not count.", b"Transfer-Encoding: \tchunked \t"),
    accepted(
        "GET with chunks", "RFC 9110, 9.3.1", "Unusual, but framed as any other.",
        head(b"GET / HTTP/1.1", HOST, CHUNKED) + _BODY, lines=(HOST,), body=b"abc",
    ),
    accepted(
        "named by Connection", "RFC 9110, 7.6.1", "It belongs to the connection in any case.",
        post(CHUNKED, b"Connection: Transfer-Encoding", body=_BODY), lines=(HOST,), body=b"abc",
    ),
    _bad("empty", _FIELD, "No coding: chunked or not?", b"Transfer-Encoding:"),
    _bad("twice in a list", _FIELD, "A sender must not.", b"Transfer-Encoding: chunked, chunked"),
    _bad("twice in fields", _FIELD, "A sender must not.", CHUNKED, CHUNKED),
    _bad("identity", _CODING, "Gone since RFC 7230.", b"Transfer-Encoding: identity"),
    _bad("identity, then chunked", _CODING, "One of them is no coding.", b"Transfer-Encoding: identity, chunked"),
    _bad("chunked, then identity", "RFC 9112, 6.3", "Chunked is not last.", b"Transfer-Encoding: chunked, identity"),
    _bad("identity in a second field", "RFC 9112, 6.3", "Chunked is not last.", CHUNKED, b"Transfer-Encoding: identity"),
    _bad("identity in the first field", _CODING, "One of them is no coding.", b"Transfer-Encoding: identity", CHUNKED),
    _bad("gzip", "RFC 9112, 6.3", "Chunked is not last: 400, and close.", b"Transfer-Encoding: gzip"),
    _bad("gzip, chunked", _FIELD, "A coding that we do not undo.", b"Transfer-Encoding: gzip, chunked"),
    _bad("chunked, gzip", "RFC 9112, 6.3", "Chunked is not last.", b"Transfer-Encoding: chunked, gzip"),
    _bad("xchunked", _CODING, "Found by those who search for a substring.", b"Transfer-Encoding: xchunked"),
    _bad("chunkedx", _CODING, "Found by those who compare a prefix.", b"Transfer-Encoding: chunkedx"),
    _bad("chunk", _CODING, "Not the word.", b"Transfer-Encoding: chunk"),
    _bad("chun ked", _CODING, "Not the word.", b"Transfer-Encoding: chun ked"),
    _bad("parameter", _CODING, "Chunked has none.", b"Transfer-Encoding: chunked;a=b"),
    _bad("weight", _CODING, "That is TE's.", b"Transfer-Encoding: chunked;q=1"),
    _bad("double quotes", _CODING, "No quoted string.", b'Transfer-Encoding: "chunked"'),
    _bad("single quotes", _CODING, "Not the word.", b"Transfer-Encoding: 'chunked'"),
    _bad("comma before", "RFC 9110, 5.6.1", "An empty element, which few expect.", b"Transfer-Encoding: ,chunked"),
    _bad("comma behind", "RFC 9110, 5.6.1", "An empty element, which few expect.", b"Transfer-Encoding: chunked,"),
    _bad("colon before", _CODING, "Not the word.", b"Transfer-Encoding: : chunked"),
    _bad("vertical tab before", "RFC 9110, 5.5", "A blank to some.", b"Transfer-Encoding: \x0bchunked"),
    _bad("vertical tab behind", "RFC 9110, 5.5", "A blank to some.", b"Transfer-Encoding: chunked\x0b"),
    _bad("form feed before", "RFC 9110, 5.5", "A blank to some.", b"Transfer-Encoding:\x0cchunked"),
    _bad("NUL behind", "RFC 9110, 5.5", "A C string ends there.", b"Transfer-Encoding: chunked\0"),
    _bad("no-break space", _CODING, "A blank to some.", b"Transfer-Encoding:\xa0chunked"),
    _bad("CR before", "RFC 9112, 2.2", "A blank to some.", b"Transfer-Encoding: \rchunked"),
    _bad("LF before", "RFC 9112, 2.2", "A fold to some.", b"Transfer-Encoding:\n chunked"),
    _bad("folded", "RFC 9112, 5.2", "A fold to some.", b"Transfer-Encoding:", b" chunked"),
    _bad("folded behind", "RFC 9112, 5.2", "Another coding to some.", CHUNKED, b" , identity"),
    _bad("space before the colon", "RFC 9112, 5.1", "Another name to some.", b"Transfer-Encoding : chunked"),
    _bad("tab before the colon", "RFC 9112, 5.1", "Another name to some.", b"Transfer-Encoding\t: chunked"),
    _bad("space before the name", "RFC 9112, 5.2", "A fold to some.", b" Transfer-Encoding: chunked"),
    _bad("hidden behind a bare LF", "RFC 9112, 2.2", "A field to some.", b"X: a\nTransfer-Encoding: chunked"),
    _bad("hidden behind a bare CR", "RFC 9112, 2.2", "A field to some.", b"X: a\rTransfer-Encoding: chunked"),
    _bad("NUL in the name", "RFC 9110, 5.1", "No token.", b"Transfer-Encoding\0: chunked"),
    _bad("case by Unicode", _CODING, "The Kelvin sign is a k to some.", "Transfer-Encoding: chun\u212aed".encode()),
    _bad("beside a length", _FIELD, "It ought to be handled as an error.", b"Content-Length: 13", CHUNKED),
]  # fmt: skip
