"""Content-Length: one field of decimal digits, and no other field that frames."""

from __future__ import annotations

from tests.balancer.cases.case import CHUNKED, HOST, accepted, head, post, refused

_FIELD = "RFC 9110, 8.6"
_FRAMING = "RFC 9112, 6.3"


def _bad(name: str, why: str, value: bytes, section: str = _FIELD):
    return refused(name, section, why, post(b"Content-Length: " + value, body=b"abcdef"))


CASES = [
    accepted("three", _FIELD, "As many bytes.", post(b"Content-Length: 3", body=b"abc"), body=b"abc"),
    accepted("zero", _FIELD, "An empty body.", post(b"Content-Length: 0")),
    accepted("many zeros", _FIELD, "Still zero.", post(b"Content-Length: 000"), lines=(HOST, b"Content-Length: 0")),
    accepted("no field", _FRAMING, "A request without one has no body.", post()),
    accepted("no space", "RFC 9112, 5", "It is optional.", post(b"Content-Length:3", body=b"abc"), body=b"abc"),
    accepted("blanks around", "RFC 9112, 5", "They do not count.", post(b"Content-Length: \t3\t ", body=b"abc"), body=b"abc"),
    accepted("other case", "RFC 9110, 5.1", "Names ignore case.", post(b"cOnTeNt-LeNgTh: 3", body=b"abc"), body=b"abc"),
    accepted(
        "leading zeros", _FIELD, "Decimal by the grammar, octal to some: made plain on the way.",
        post(b"Content-Length: 010", body=b"0123456789"),
        lines=(HOST, b"Content-Length: 10"), body=b"0123456789",
    ),
    accepted(
        "GET with a body", "RFC 9110, 9.3.1", "Unusual, but framed as any other.",
        head(b"GET / HTTP/1.1", HOST, b"Content-Length: 3") + b"abc", body=b"abc",
    ),
    accepted(
        "a request for a body", _FRAMING, "The body is not looked into.",
        post(b"Content-Length: 18", body=b"GET / HTTP/1.1\r\n\r\n"), body=b"GET / HTTP/1.1\r\n\r\n",
    ),
    accepted(
        "zeros and line breaks for a body", _FRAMING, "Bodies are opaque.",
        post(b"Content-Length: 5", body=b"\0\r\n\r\n"), body=b"\0\r\n\r\n",
    ),
    _bad("empty", "One digit at least.", b""),
    _bad("plus", "A digit is first.", b"+3"),
    _bad("minus", "A digit is first.", b"-3"),
    _bad("minus zero", "A digit is first.", b"-0"),
    _bad("hexadecimal", "Decimal.", b"0x3"),
    _bad("hexadecimal digits", "Decimal.", b"a"),
    _bad("octal mark", "Decimal.", b"0o3"),
    _bad("exponent", "An integer.", b"3e0"),
    _bad("fraction", "An integer.", b"3.0"),
    _bad("underscore", "Python's int() takes it.", b"0_3"),
    _bad("blank inside", "One number.", b"3 3"),
    _bad("tab inside", "One number.", b"3\t3"),
    _bad("list of the same", "It may be refused, and two fields are.", b"3, 3"),
    _bad("list of different", "It must be refused.", b"3, 6"),
    _bad("comma behind", "A list to some.", b"3,"),
    _bad("comma before", "A list to some.", b",3"),
    _bad("semicolon", "No parameters.", b"3;a=b"),
    _bad("quotes", "No quoted string.", b'"3"'),
    _bad("letters behind", "C's strtol() stops there.", b"3abc"),
    _bad("Arabic-Indic digit", "ASCII digits.", "٣".encode()),
    _bad("superscript digit", "ASCII digits.", b"\xb3"),
    _bad("no-break space", "Not a blank of HTTP.", b"\xa03"),
    _bad("NUL behind", "A C string ends there.", b"3\0", "RFC 9110, 5.5"),
    _bad("vertical tab before", "A blank to some.", b"\x0b3", "RFC 9110, 5.5"),
    _bad("form feed behind", "A blank to some.", b"3\x0c", "RFC 9110, 5.5"),
    _bad("2^63", "Beyond a signed 64-bit number.", b"9223372036854775808"),
    _bad("2^64 + 3", "Three, to those who overflow.", b"18446744073709551619"),
    _bad("a thousand digits", "Beyond any number.", b"1" * 1000),
    refused("twice, different", _FRAMING, "Which one?", post(b"Content-Length: 3", b"Content-Length: 6", body=b"abcdef")),
    refused("twice, the same", _FRAMING, "Refusing is allowed, and simpler.", post(b"Content-Length: 3", b"Content-Length: 3", body=b"abc")),
    refused("twice, in other case", _FRAMING, "Names ignore case.", post(b"Content-Length: 3", b"content-length: 0", body=b"abc")),
    refused("zero, then three", _FRAMING, "Zero counts as one, too.", post(b"Content-Length: 0", b"Content-Length: 3", body=b"abc")),
    refused("folded", "RFC 9112, 5.2", "Obsolete.", post(b"Content-Length:", b" 3", body=b"abc")),
    refused(
        "CL.TE", "RFC 9112, 6.1", "The classic: the front counts, the back reads chunks.",
        post(b"Content-Length: 6", CHUNKED, body=b"0\r\n\r\nG"),
    ),
    refused(
        "TE.CL", "RFC 9112, 6.1", "The classic, the other way round.",
        post(CHUNKED, b"Content-Length: 4", body=b"12\r\nGPOST / HTTP/1.1\r\n\r\n0\r\n\r\n"),
    ),
    refused(
        "CL.0", "RFC 9112, 6.1", "A length of zero beside chunks is a length.",
        post(b"Content-Length: 0", CHUNKED, body=b"0\r\n\r\n"),
    ),
]  # fmt: skip
