"""Reading of messages by the parser and the framing alone: bytes in, bytes out, no socket.

`requests` does what a client's connection does, and `answer` does what an exchange does. Tests that
run the same cases through a real plane show that there is no difference.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterable
from dataclasses import dataclass, field

from steelyard.balancer.exchange.answer import Answer
from steelyard.balancer.exchange.forward import Forward
from steelyard.balancer.http.date import Date
from steelyard.balancer.http.fields import BadMessageError
from steelyard.balancer.http.framing import ChunkedBody
from steelyard.balancer.http.grammar import END, Reader, skip_empty_lines
from steelyard.balancer.http.heads import AnswerHead, RequestHead
from steelyard.balancer.http.origin import Manner, Origin

LIMIT = 32 * 1024
FIELDS = 100


class Noon(Date):
    """A clock that always gives the same date, so that answers can be compared."""

    __slots__ = ()

    def line(self) -> bytes:
        return b"\r\nDate: Wed, 18 Nov 2026 12:00:00 GMT"


NOON = Noon()


class Same(Manner):
    """A manner that gives every request the same id, so that forwarded requests can be compared."""

    __slots__ = ()

    def next_id(self) -> bytes:
        return b"same"


ORIGIN = Origin("192.0.2.1", b"192.0.2.2:80", b"http", Same("x-forwarded", (), b"p"), False)
# Fields that a balancer adds, for a worker or a client, about itself and the connection.
ADDED = frozenset(
    b"x-forwarded-for x-forwarded-proto x-forwarded-host x-request-id forwarded via "
    b"transfer-encoding connection date".split()
)


def request_head(text: bytes) -> RequestHead:
    """The head of a request, parsed from its text without the final empty line."""
    head = Reader(LIMIT, FIELDS).request(text + END, 0)
    assert head is not None
    return head


def answer_head(text: bytes) -> AnswerHead:
    """The head of an answer, parsed from its text without the final empty line."""
    head = Reader(LIMIT, FIELDS).answer(text + END, 0)
    assert head is not None
    return head


@dataclass
class Taken:
    """A request that was accepted, and the bytes that were made of it."""

    head: RequestHead
    out: bytes = b""
    done: bool = False
    rest: bytes = b""  # the bytes received after its end


@dataclass
class Read:
    """The requests and the refusal that a client's bytes led to."""

    taken: list[Taken] = field(default_factory=list)
    status: int = 0  # of the refusal that ended the reading
    rest: bytes = b""  # the beginning of an incomplete head


class Requests:
    """A client's connection without its socket."""

    def __init__(self, limit: int = LIMIT, fields: int = FIELDS) -> None:
        self.read = Read()
        self._reader = Reader(limit, fields)
        self._buffer = b""
        self._seen = 0
        self._forward: Forward | None = None
        self._open = True

    def feed(self, data: bytes) -> None:
        """Take the bytes of one receive."""
        if not self._open:
            return
        self._buffer += data
        try:
            while self._open and self._buffer and self._step():
                pass
        except BadMessageError as bad:
            self.read.status = bad.status
            self._open = False
        self.read.rest = self._buffer

    def _step(self) -> bool:
        return self._body() if self._forward is not None else self._head()

    def _head(self) -> bool:
        if not self._seen:
            self._buffer = skip_empty_lines(self._buffer)
            if self._buffer in (b"", b"\r"):
                return False
        head = self._reader.request(self._buffer, self._seen)
        if head is None:
            self._seen = len(self._buffer)
            return False
        forward = Forward(head, ORIGIN, -1)
        self._seen = 0
        self._buffer = self._buffer[self._reader.end :]
        self.read.taken.append(
            Taken(head, (forward.replay or b"") + forward.held, forward.done, self._buffer)
        )
        if forward.done:
            self._open = head.keep
        else:
            self._forward = forward
        return True

    def _body(self) -> bool:
        forward, taken = self._forward, self.read.taken[-1]
        assert forward is not None
        data, self._buffer = self._buffer, b""
        try:
            taken.out += forward.feed(memoryview(data))
        except BadMessageError:
            self.read.taken.pop()
            raise
        if forward.done:
            taken.done = True
            self._forward = None
            self._buffer = taken.rest = bytes(forward.rest)
            self._open = taken.head.keep
        return True


def requests(pieces: Iterable[bytes], limit: int = LIMIT, fields: int = FIELDS) -> Read:
    """Read a client's bytes, received in these pieces."""
    reader = Requests(limit, fields)
    for piece in pieces:
        reader.feed(piece)
    return reader.read


@dataclass
class Relay:
    """The answer that a worker's bytes led to."""

    head: AnswerHead | None = None
    out: bytes = b""
    done: bool = False
    refused: bool = False


def answer(pieces: Iterable[bytes], request: bytes = b"GET / HTTP/1.1\r\nHost: a.org") -> Relay:
    """Read a worker's bytes, received in these pieces, up to the close of its connection."""
    reader = Answer(request_head(request), Reader(LIMIT, FIELDS), NOON)
    relay = Relay()
    try:
        for piece in pieces:
            relay.out += reader.feed(memoryview(piece), False)
        if not reader.done:
            relay.out += reader.end()
    except BadMessageError:
        return Relay(refused=True)
    relay.head, relay.done = reader.head, reader.done
    return relay


def payload(head: RequestHead | AnswerHead, data: bytes) -> tuple[bytes, list[bytes]]:
    """Body and trailers of a message with this head, read by the balancer's own framing."""
    data = skip_empty_lines(data).partition(END)[2]
    if not head.chunked:
        return (data if head.length < 0 else data[: head.length]), []
    body = ChunkedBody()
    return bytes(body.feed(data)), body.trailers()


def cut(data: bytes, places: Iterable[int]) -> list[bytes]:
    """The data in pieces, cut at these places."""
    edges = sorted({0, len(data), *(place % (len(data) + 1) for place in places)})
    return [data[a:b] for a, b in itertools.pairwise(edges)]


def end_to_end(fields: Iterable[tuple[bytes, bytes]]) -> list[tuple[bytes, bytes]]:
    """The fields without those that a balancer adds, with names in lower case."""
    named = ((name.lower(), value) for name, value in fields)
    return [(name, value) for name, value in named if name not in ADDED]


def pairs(lines: Iterable[bytes]) -> list[tuple[bytes, bytes]]:
    """Field lines as names and values."""
    split = (line.partition(b":") for line in lines)
    return [(name.lower(), value.strip(b" \t")) for name, _, value in split]
