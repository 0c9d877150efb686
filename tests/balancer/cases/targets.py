"""Request targets: origin form, absolute form, authority form and asterisk form."""

from __future__ import annotations

from tests.balancer.cases.case import HOST, accepted, asks, head, refused

_ORIGIN = "RFC 9112, 3.2.1"
_ABSOLUTE = "RFC 9112, 3.2.2"
_AUTHORITY = "RFC 9112, 3.2.3"
_ASTERISK = "RFC 9112, 3.2.4"
_B = (b"Host: b.org",)

CASES = [
    accepted("query", _ORIGIN, "It is part of the target.", asks(b"GET /a?b=c&d HTTP/1.1")),
    accepted("empty query", _ORIGIN, "A query may be empty.", asks(b"GET /? HTTP/1.1")),
    accepted("question mark in a query", "RFC 3986, 3.4", "Allowed.", asks(b"GET /?a?b HTTP/1.1")),
    accepted("empty segments", "RFC 3986, 3.3", "Segments may be empty.", asks(b"GET //a// HTTP/1.1")),
    accepted(
        "dot segments", "RFC 3986, 5.2.4", "Only references are resolved; a target travels as is.",
        asks(b"GET /a/../b/./c HTTP/1.1"),
    ),
    accepted(
        "percent encoding", "RFC 3986, 2.1", "Never decoded on the way.",
        asks(b"GET /%2e%2E/%00%0d%0a HTTP/1.1"),
    ),
    accepted("all of pchar", "RFC 3986, 3.3", "Allowed.", asks(b"GET /a-._~!$&'()*+,;=:@ HTTP/1.1")),
    accepted(
        "what browsers send", "RFC 9112, 3.2",
        "Beyond RFC 3986, but no reader splits at it; refusing would break real sites.",
        asks(b'GET /[a]{b}|"c"\\^`<d> HTTP/1.1'),
    ),
    accepted(
        "lone percent sign", "RFC 9112, 3.2", "As above; nothing here decodes it.",
        asks(b"GET /100% HTTP/1.1"),
    ),
    accepted("colon in a path", "RFC 3986, 3.3", "Not a scheme.", asks(b"GET /http://b.org/ HTTP/1.1")),
    accepted(
        "absolute form", _ABSOLUTE, "A server must accept it; its authority replaces the Host.",
        asks(b"GET http://b.org/x?y HTTP/1.1"), line=b"GET /x?y HTTP/1.1", lines=_B,
    ),
    accepted(
        "absolute form, port", _ABSOLUTE, "The port belongs to the authority.",
        asks(b"GET http://b.org:81/ HTTP/1.1"), line=b"GET / HTTP/1.1", lines=(b"Host: b.org:81",),
    ),
    accepted(
        "absolute form, same host", _ABSOLUTE, "As RFC 9112 asks of clients.",
        asks(b"GET http://a.org/ HTTP/1.1"), line=b"GET / HTTP/1.1",
    ),
    accepted(
        "absolute form, no path", "RFC 9110, 4.2.3", "An empty path is `/`.",
        asks(b"GET http://b.org HTTP/1.1"), line=b"GET / HTTP/1.1", lines=_B,
    ),
    accepted(
        "absolute form, only a query", "RFC 9110, 4.2.3", "An empty path is `/`.",
        asks(b"GET http://b.org?x HTTP/1.1"), line=b"GET /?x HTTP/1.1", lines=_B,
    ),
    accepted(
        "absolute form, capitals", "RFC 3986, 3.1", "Schemes ignore case.",
        asks(b"GET HTTP://b.org/ HTTP/1.1"), line=b"GET / HTTP/1.1", lines=_B,
    ),
    accepted(
        "absolute form, IPv6", "RFC 3986, 3.2.2", "An IP literal is an authority.",
        asks(b"GET http://[::1]:8/ HTTP/1.1"), line=b"GET / HTTP/1.1", lines=(b"Host: [::1]:8",),
    ),
    accepted(
        "absolute form in HTTP/1.0", _ABSOLUTE, "The authority becomes the Host that was missing.",
        head(b"GET http://b.org/ HTTP/1.0"), line=b"GET / HTTP/1.1", lines=_B,
    ),
    accepted("asterisk", _ASTERISK, "The server as a whole.", asks(b"OPTIONS * HTTP/1.1")),
    accepted(
        "OPTIONS without a path", _ASTERISK, "The last proxy sends an asterisk.",
        asks(b"OPTIONS http://b.org HTTP/1.1"), line=b"OPTIONS * HTTP/1.1", lines=_B,
    ),
    accepted(
        "OPTIONS with a path", _ASTERISK, "A path is not the server as a whole.",
        asks(b"OPTIONS http://b.org/ HTTP/1.1"), line=b"OPTIONS / HTTP/1.1", lines=_B,
    ),
    refused("asterisk for GET", _ASTERISK, "Only OPTIONS.", asks(b"GET * HTTP/1.1")),
    refused("two asterisks", _ASTERISK, "One.", asks(b"OPTIONS ** HTTP/1.1")),
    refused("asterisk and query", _ASTERISK, "Nothing else.", asks(b"OPTIONS *?a HTTP/1.1")),
    refused("authority for GET", _AUTHORITY, "Only CONNECT.", asks(b"GET a.org:80 HTTP/1.1")),
    refused("CONNECT", "RFC 9110, 9.3.6", "No tunnels here.", asks(b"CONNECT a.org:80 HTTP/1.1"), 501),
    refused("CONNECT to a path", _AUTHORITY, "Nor here.", asks(b"CONNECT / HTTP/1.1"), 501),
    refused("CONNECT to a URI", _AUTHORITY, "Nor.", asks(b"CONNECT http://a.org/ HTTP/1.1"), 501),
    refused("relative path", _ORIGIN, "It starts with a slash.", asks(b"GET a/b HTTP/1.1")),
    refused("only a query", _ORIGIN, "A path is first.", asks(b"GET ?a HTTP/1.1")),
    refused("fragment", "RFC 9110, 7.1", "Never sent.", asks(b"GET /a#b HTTP/1.1")),
    refused("fragment, absolute", "RFC 9110, 7.1", "Never sent.", asks(b"GET http://a.org/#b HTTP/1.1")),
    refused("space", _ORIGIN, "No whitespace.", asks(b"GET /a b HTTP/1.1")),
    refused("tab", _ORIGIN, "No whitespace.", asks(b"GET /a\tb HTTP/1.1")),
    refused("NUL", _ORIGIN, "A C string ends there.", asks(b"GET /a\0b HTTP/1.1")),
    refused("DEL", _ORIGIN, "A control character.", asks(b"GET /a\x7fb HTTP/1.1")),
    refused("beyond ASCII", "RFC 3986, 2", "URIs are ASCII.", asks(b"GET /\xe9 HTTP/1.1")),
    refused("bare CR", "RFC 9112, 2.2", "A line's end to some.", asks(b"GET /\rX HTTP/1.1")),
    refused("bare LF", "RFC 9112, 2.2", "A line's end to some.", asks(b"GET /\nX HTTP/1.1")),
    refused("user", "RFC 9110, 4.2.4", "Deprecated, and it hides the host.", asks(b"GET http://a.org@b.org/ HTTP/1.1")),
    refused("no host", "RFC 9110, 4.2.1", "Empty hosts are invalid.", asks(b"GET http:///x HTTP/1.1")),
    refused("only a port", "RFC 9110, 4.2.1", "Empty hosts are invalid.", asks(b"GET http://:80/ HTTP/1.1")),
    refused("backslashes", _ABSOLUTE, "Browsers read them as slashes.", asks(b"GET http:\\\\b.org/ HTTP/1.1")),
    refused("backslash in the host", "RFC 3986, 3.2.2", "Where does the host end?", asks(b"GET http://b.org\\@a.org/ HTTP/1.1")),
    refused("one slash", _ABSOLUTE, "Two.", asks(b"GET http:/b.org/ HTTP/1.1")),
    refused("no slash", _ABSOLUTE, "Two.", asks(b"GET http:b.org HTTP/1.1")),
    refused("https", "RFC 9110, 4.2.2", "Not over this connection.", asks(b"GET https://a.org/ HTTP/1.1")),
    refused("another scheme", _ABSOLUTE, "No HTTP.", asks(b"GET ftp://a.org/ HTTP/1.1")),
    refused("javascript", _ABSOLUTE, "No HTTP.", asks(b"GET javascript:alert(1) HTTP/1.1")),
    refused("absolute form without Host", "RFC 9112, 3.2", "Required all the same.", head(b"GET http://a.org/ HTTP/1.1")),
    refused("absolute form, two Hosts", "RFC 9112, 3.2", "One.", head(b"GET http://a.org/ HTTP/1.1", HOST, b"Host: b.org")),
    refused("absolute form, bad Host", "RFC 9112, 3.2", "Invalid even when replaced.", head(b"GET http://a.org/ HTTP/1.1", b"Host: a b")),
    refused("absolute form, bad port", "RFC 3986, 3.2.3", "Digits.", asks(b"GET http://a.org:x/ HTTP/1.1")),
]  # fmt: skip
