"""Several requests on one connection: each ends exactly where the next begins."""

from __future__ import annotations

from tests.balancer.cases.case import (
    CHUNKED,
    HOST,
    Seen,
    accepted,
    as_sent,
    get,
    head,
    post,
    refused,
    series,
)  # fmt: skip

_PIPELINE = "RFC 9112, 9.3.2"
_EMPTY = "RFC 9112, 2.2"
_CLOSE = "RFC 9112, 9.6"
_A = get(HOST)
_B = get(HOST, b"B: b")
_CHUNKS = post(CHUNKED, body=b"3\r\nabc\r\n0\r\n\r\n")
_POST = post(b"Content-Length: 3", body=b"abc")
_SEEN_POST = Seen(b"POST / HTTP/1.1", (HOST, b"Content-Length: 3"), b"abc")
_SEEN_CHUNKS = Seen(b"POST / HTTP/1.1", (HOST,), b"abc")

CASES = [
    series("two", _PIPELINE, "Answered in order.", _A + _B, as_sent(_A), as_sent(_B)),
    series("behind a length", "RFC 9112, 6.3", "It begins where the length ends.", _POST + _A, _SEEN_POST, as_sent(_A)),
    series("behind chunks", "RFC 9112, 7.1", "It begins behind the last chunk.", _CHUNKS + _A, _SEEN_CHUNKS, as_sent(_A)),
    series("behind an unframed POST", "RFC 9112, 6.3", "No length: no body.", post() + _A, as_sent(post()), as_sent(_A)),
    series(
        "ten", _PIPELINE, "As many as are sent.", (_A + _POST) * 5,
        *[as_sent(_A), _SEEN_POST] * 5,
    ),
    accepted("one empty line before", _EMPTY, "A server ought to ignore it.", b"\r\n" + _A, line=b"GET / HTTP/1.1", lines=(HOST,)),
    accepted("a hundred empty lines before", _EMPTY, "At least one.", b"\r\n" * 100 + _A, line=b"GET / HTTP/1.1", lines=(HOST,)),
    series("an empty line behind a body", _EMPTY, "Old browsers sent one.", _POST + b"\r\n" + _A, _SEEN_POST, as_sent(_A)),
    series("nothing behind close", _CLOSE, "No request is processed after it.", get(HOST, b"Connection: close") + _B, as_sent(_A)),
    series("nothing behind HTTP/1.0", "RFC 9112, 9.3", "It closes by default.", head(b"GET / HTTP/1.0", HOST) + _B, as_sent(_A)),
    series(
        "behind a kept HTTP/1.0", "RFC 9112, 9.3", "It asked to go on.",
        head(b"GET / HTTP/1.0", HOST, b"Connection: keep-alive") + _B, as_sent(_A), as_sent(_B),
    ),
    series("garbage behind a request", _PIPELINE, "The first is served, the second refused.", _A + b":\r\n\r\n", as_sent(_A), status=400),
    series("more than the length", "RFC 9112, 6.3", "The rest is a bad request.", post(b"Content-Length: 3", body=b"abc: d\r\n\r\n"), _SEEN_POST, status=400),
    series("more than the chunks", "RFC 9112, 7.1", "The rest is a bad request.", _CHUNKS + b"0\r\n\r\n", _SEEN_CHUNKS, status=400),
    series("no Host in the second", "RFC 9112, 3.2", "Each request for itself.", _A + get(), as_sent(_A), status=400),
    refused("bare LF before", _EMPTY, "An empty line is CR LF.", b"\n" + _A),
    refused("bare CR before", _EMPTY, "An empty line is CR LF.", b"\r" + _A),
    refused("CR LF, then LF", _EMPTY, "An empty line is CR LF.", b"\r\n\n" + _A),
    refused("a blank line before", _EMPTY, "A blank is not nothing.", b" \r\n" + _A),
    refused("NUL before", _EMPTY, "No method begins so.", b"\0" + _A),
    refused("nothing behind a refusal", _CLOSE, "What follows is nobody's request.", get() + _A),
]  # fmt: skip
