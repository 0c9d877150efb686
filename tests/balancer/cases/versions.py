"""Versions: HTTP/1.1 and HTTP/1.0 are accepted, in their exact spelling."""

from __future__ import annotations

from tests.balancer.cases.case import CHUNKED, HOST, accepted, asks, head, refused

_VERSION = "RFC 9112, 2.3"

CASES = [
    accepted(
        "HTTP/1.0 with Host", _VERSION, "A balancer speaks its own version to the worker.",
        asks(b"GET / HTTP/1.0"), line=b"GET / HTTP/1.1",
    ),
    accepted(
        "HTTP/1.0 with a length", "RFC 9110, 8.6", "Content-Length was in HTTP/1.0 already.",
        head(b"POST / HTTP/1.0", HOST, b"Content-Length: 3") + b"abc",
        line=b"POST / HTTP/1.1", body=b"abc",
    ),
    accepted(
        "Expect in HTTP/1.0", "RFC 9110, 10.1.1", "Ignored: HTTP/1.0 knows no interim answers.",
        head(b"POST / HTTP/1.0", HOST, b"Expect: 100-continue", b"Content-Length: 0"),
        line=b"POST / HTTP/1.1", lines=(HOST, b"Content-Length: 0"),
    ),
    refused("HTTP/0.9", "RFC 9112, 2.3", "It has no version at all.", asks(b"GET /")),
    refused("HTTP/2.0", "RFC 9110, 15.6.6", "Another major.", asks(b"GET / HTTP/2.0"), 505),
    refused(
        "HTTP/2 preface", "RFC 9113, 3.4", "Made to be refused by HTTP/1 servers.",
        b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n", 505,
    ),
    refused("HTTP/1.2", "RFC 9110, 15.6.6", "There is none.", asks(b"GET / HTTP/1.2"), 505),
    refused("HTTP/0.9 in words", "RFC 9110, 15.6.6", "Unframed.", asks(b"GET / HTTP/0.9"), 505),
    refused("HTTP/2", _VERSION, "One digit, a dot, one digit.", asks(b"GET / HTTP/2")),
    refused("HTTP/1.10", _VERSION, "One digit behind the dot.", asks(b"GET / HTTP/1.10")),
    refused("HTTP/01.1", _VERSION, "One digit before the dot.", asks(b"GET / HTTP/01.1")),
    refused("HTTP/1,1", _VERSION, "A dot.", asks(b"GET / HTTP/1,1")),
    refused("HTTP/1.", _VERSION, "A digit is missing.", asks(b"GET / HTTP/1.")),
    refused("http/1.1", _VERSION, "The name is case-sensitive.", asks(b"GET / http/1.1")),
    refused("HTTPS/1.1", _VERSION, "Another name.", asks(b"GET / HTTPS/1.1")),
    refused("HTTP 1.1", _VERSION, "A slash.", asks(b"GET / HTTP 1.1")),
    refused("HTTP/+1.1", _VERSION, "A digit, no number.", asks(b"GET / HTTP/+1.1")),
    refused("HTTP/-1.1", _VERSION, "A digit, no number.", asks(b"GET / HTTP/-1.1")),
    refused("wide digit", _VERSION, "ASCII digits.", asks("GET / HTTP/1.１".encode())),
    refused(
        "chunked in HTTP/1.0", "RFC 9112, 6.1",
        "The framing is to be taken as faulty: an HTTP/1.0 hop would not have seen it.",
        head(b"POST / HTTP/1.0", HOST, CHUNKED) + b"0\r\n\r\n",
    ),
    refused(
        "chunked in HTTP/1.0 beside a length", "RFC 9112, 6.1", "Old readers would count instead.",
        head(b"POST / HTTP/1.0", HOST, b"Content-Length: 5", CHUNKED) + b"0\r\n\r\n",
    ),
]  # fmt: skip
