"""Cases: each has bytes, the section of an RFC that judges them, a reason and an outcome.

    accepted("port", "RFC 3986, 3.2.3", "A port may follow.", get(b"Host: a.org:81"))
    refused("two Hosts", "RFC 9112, 3.2", "Which one counts?", get(HOST, HOST), 400)

An accepted request reaches the worker unchanged, unless the case names the differences.
"""

from __future__ import annotations

from dataclasses import dataclass

HOST = b"Host: a.org"
CHUNKED = b"Transfer-Encoding: chunked"


@dataclass(frozen=True)
class Seen:
    """A request as the worker sees it, without the fields that a balancer adds."""

    line: bytes
    lines: tuple[bytes, ...]
    body: bytes = b""
    trailers: tuple[bytes, ...] = ()


@dataclass(frozen=True)
class Request:
    """A client's bytes, the requests that reach the worker, and the status of a final refusal."""

    name: str
    section: str
    why: str
    raw: bytes
    seen: tuple[Seen, ...] = ()
    status: int = 0


@dataclass(frozen=True)
class Chunks:
    """A chunked body, which is read alike in both directions, with the status if it is refused."""

    name: str
    section: str
    why: str
    raw: bytes
    body: bytes = b""
    trailers: tuple[bytes, ...] = ()
    status: int = 0


@dataclass(frozen=True)
class Reply:
    """A worker's bytes up to its close, and the answer that the client sees, which is 502 if
    refused.

    `lines` are all fields of the answer but those that a balancer adds; `interim` are the 1xx heads
    before the answer.
    """

    name: str
    section: str
    why: str
    raw: bytes
    start: bytes = b"HTTP/1.1 502 Bad Gateway"
    lines: tuple[bytes, ...] = ()
    body: bytes = b""
    trailers: tuple[bytes, ...] = ()
    interim: tuple[bytes, ...] = ()
    to: bytes = b"GET"

    @property
    def refused(self) -> bool:
        return self.start == Reply.start


Case = Request | Chunks | Reply


# Requests


def head(line: bytes, *fields: bytes) -> bytes:
    """A head with its empty line."""
    return b"\r\n".join((line, *fields, b"", b""))


def get(*fields: bytes) -> bytes:
    """A GET with these fields."""
    return head(b"GET / HTTP/1.1", *fields)


def post(*fields: bytes, body: bytes = b"") -> bytes:
    """A POST with a good Host, these fields and these bytes after the head."""
    return head(b"POST / HTTP/1.1", HOST, *fields) + body


def asks(line: bytes) -> bytes:
    """A request with this request line and a good Host."""
    return head(line, HOST)


def as_sent(raw: bytes) -> Seen:
    """The request that a worker sees if these bytes, without a body, pass unchanged."""
    line, *lines = raw.partition(b"\r\n\r\n")[0].split(b"\r\n")
    return Seen(line, tuple(lines))


def accepted(
    name: str,
    section: str,
    why: str,
    raw: bytes,
    *,
    line: bytes | None = None,
    lines: tuple[bytes, ...] | None = None,
    body: bytes = b"",
    trailers: tuple[bytes, ...] = (),
) -> Request:
    """A request that reaches the worker."""
    sent = as_sent(raw)
    seen = Seen(line or sent.line, sent.lines if lines is None else lines, body, trailers)
    return Request(name, section, why, raw, (seen,))


def refused(name: str, section: str, why: str, raw: bytes, status: int = 400) -> Request:
    """A request of which no byte reaches the worker."""
    return Request(name, section, why, raw, (), status)


def series(name: str, section: str, why: str, raw: bytes, *seen: Seen, status: int = 0) -> Request:
    """Several requests on one connection."""
    return Request(name, section, why, raw, seen, status)


# Chunked bodies


def decoded(name: str, section: str, why: str, raw: bytes, body: bytes, *trailers: bytes) -> Chunks:
    """A chunked body that is decoded."""
    return Chunks(name, section, why, raw, body, trailers)


def broken(name: str, section: str, why: str, raw: bytes, status: int = 400) -> Chunks:
    """A chunked body that is refused."""
    return Chunks(name, section, why, raw, status=status)


# Answers


def relayed(
    name: str,
    section: str,
    why: str,
    raw: bytes,
    *,
    start: bytes | None = None,
    lines: tuple[bytes, ...] | None = None,
    body: bytes = b"",
    trailers: tuple[bytes, ...] = (),
    interim: tuple[bytes, ...] = (),
    to: bytes = b"GET",
) -> Reply:
    """An answer that reaches the client."""
    sent = as_sent(raw)
    return Reply(
        name,
        section,
        why,
        raw,
        start or sent.line,
        sent.lines if lines is None else lines,
        body,
        trailers,
        interim,
        to,
    )


def malformed(name: str, section: str, why: str, raw: bytes, to: bytes = b"GET") -> Reply:
    """An answer that is replaced by a 502."""
    return Reply(name, section, why, raw, to=to)
