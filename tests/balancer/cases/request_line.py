"""Request lines: method SP request-target SP HTTP-version."""

from __future__ import annotations

from tests.balancer.cases.case import HOST, accepted, asks, head, refused

_LINE = "RFC 9112, 3"
_METHOD = "RFC 9110, 9.1"

CASES = [
    accepted("plain", _LINE, "The usual form.", asks(b"GET / HTTP/1.1")),
    accepted("PATCH", "RFC 5789, 2", "A registered method.", asks(b"PATCH / HTTP/1.1")),
    accepted(
        "unknown method", _METHOD, "Methods are open for extension.", asks(b"FROB / HTTP/1.1")
    ),
    accepted(
        "method of odd characters",
        "RFC 9110, 5.6.2",
        "A token has more than letters.",
        asks(b"M!#$%&'*+-.^_`|~9 / HTTP/1.1"),
    ),
    accepted(
        "lower-case get", _METHOD, "Methods are case-sensitive: this is not GET, but a token.",
        asks(b"get / HTTP/1.1"),
    ),
    accepted(
        "mixed-case Post", _METHOD, "Another method of the extensible kind.",
        asks(b"Post / HTTP/1.1"),
    ),
    accepted(
        "method of 2,000 letters", _LINE, "A token has no greatest length but the head's.",
        asks(b"A" * 2000 + b" / HTTP/1.1"),
    ),
    accepted(
        "target of 8,000 bytes", _LINE, "At least 8,000 octets are to be supported.",
        asks(b"GET /" + b"a" * 7999 + b" HTTP/1.1"),
    ),
    accepted(
        "TRACE", "RFC 9110, 9.3.8", "A method like another to a balancer.",
        asks(b"TRACE / HTTP/1.1"),
    ),
    refused(
        "lower-case head", _METHOD,
        "A worker that ignores case answers without the body that we would wait for.",
        asks(b"head / HTTP/1.1"),
    ),
    refused(
        "mixed-case Connect", _METHOD, "A worker that ignores case would open a tunnel.",
        asks(b"Connect / HTTP/1.1"),
    ),
    refused("two spaces behind the method", _LINE, "One SP.", asks(b"GET  / HTTP/1.1")),
    refused("two spaces before the version", _LINE, "One SP.", asks(b"GET /  HTTP/1.1")),
    refused("trailing space", _LINE, "Nothing follows the version.", asks(b"GET / HTTP/1.1 ")),
    refused("trailing tab", _LINE, "Nothing follows the version.", asks(b"GET / HTTP/1.1\t")),
    refused("leading space", _LINE, "A method is first.", asks(b" GET / HTTP/1.1")),
    refused("leading tab", _LINE, "A method is first.", asks(b"\tGET / HTTP/1.1")),
    refused("tab for the first space", _LINE, "SP, not HTAB.", asks(b"GET\t/ HTTP/1.1")),
    refused("tab for the second space", _LINE, "SP, not HTAB.", asks(b"GET /\tHTTP/1.1")),
    refused(
        "vertical tab for a space", "RFC 9112, 3", "Lenient readers split on it, others do not.",
        asks(b"GET\x0b/ HTTP/1.1"),
    ),
    refused(
        "form feed for a space", "RFC 9112, 3", "Lenient readers split on it, others do not.",
        asks(b"GET /\x0cHTTP/1.1"),
    ),
    refused("no method", _LINE, "A token has at least one character.", asks(b" / HTTP/1.1")),
    refused("colon in the method", _METHOD, "No token character.", asks(b"GE:T / HTTP/1.1")),
    refused("quotes around the method", _METHOD, "No token.", asks(b'"GET" / HTTP/1.1')),
    refused("method beyond ASCII", _METHOD, "No token.", asks(b"G\xcbT / HTTP/1.1")),
    refused("NUL in the method", _METHOD, "No token.", asks(b"G\0ET / HTTP/1.1")),
    refused("only a method", _LINE, "Three parts.", asks(b"GET")),
    refused("no target", _LINE, "Three parts.", asks(b"GET HTTP/1.1")),
    refused("two targets", _LINE, "Which one?", asks(b"GET /a /b HTTP/1.1")),
    refused(
        "a bare LF ends the line", "RFC 9112, 2.2",
        "A recipient may take LF for a line's end; we may not differ from it.",
        b"GET / HTTP/1.1\nHost: a.org\r\n\r\n",
    ),
    refused(
        "a bare CR ends the line", "RFC 9112, 2.2", "A bare CR is invalid, or a space.",
        b"GET / HTTP/1.1\rHost: a.org\r\n\r\n",
    ),
    refused(
        "CR CR LF ends the line", "RFC 9112, 2.2", "The first CR is bare.",
        b"GET / HTTP/1.1\r\r\nHost: a.org\r\n\r\n",
    ),
    refused(
        "LF everywhere", "RFC 9112, 2.2", "Robust readers agree, strict ones do not.",
        b"GET / HTTP/1.1\nHost: a.org\n\n",
    ),
    refused(
        "a request in a request line", _LINE, "CR LF in percent encoding is no line's end.",
        asks(b"GET / HTTP/1.1%0d%0aX: y"),
    ),
    refused(
        "a status line", _LINE, "A request was due.", head(b"HTTP/1.1 200 OK", HOST),
    ),
    refused(
        "a TLS hello", _LINE, "A client that took the wrong port.",
        b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03",
    ),
    refused(
        "a line longer than any head", "RFC 9110, 15.5.21", "Nothing is read without a limit.",
        asks(b"GET /" + b"a" * 40_000 + b" HTTP/1.1"), 431,
    ),
]  # fmt: skip
