"""Framing: finds the end of a received body, and frames a body for sending.

`feed` takes the bytes that a socket gave and returns the payload in them. Once the body is done,
`rest` holds the bytes behind its end. Chunked bodies are decoded and framed anew, so chunk
extensions and odd spellings of sizes are never forwarded.
"""

from __future__ import annotations

import re

from steelyard.balancer.http.fields import BadMessageError, trailer_lines
from steelyard.balancer.http.grammar import END
from steelyard.balancer.io.octets import Buffer

LONGEST_SIZE_LINE = 1024
MOST_TRAILERS = 100
TRAILER_BYTES = 16 * 1024

_TOKEN = rb"[!#$%&'*+.^_`|~0-9A-Za-z-]+"
_SIZE_LINE = re.compile(
    rb"([0-9A-Fa-f]{1,15})"
    rb"(?:[ \t]*;[ \t]*" + _TOKEN + rb'(?:[ \t]*=[ \t]*(?:' + _TOKEN + rb"|"
    rb'"(?:[\t !#-\[\]-~\x80-\xff]|\\[\t -~\x80-\xff])*"))?)*'
)  # fmt: skip

_SIZE, _DATA, _AFTER, _TRAILER = range(4)


class Body:
    """A body that is being received."""

    __slots__ = ("done", "rest")

    def __init__(self) -> None:
        self.done = False
        self.rest: Buffer = b""  # the bytes behind the end of the body

    def feed(self, data: Buffer) -> Buffer:
        """Return the payload in `data`."""
        raise NotImplementedError

    def trailers(self) -> list[bytes]:
        """Return the field lines behind the last chunk."""
        return []


class LengthBody(Body):
    """A body whose length Content-Length tells."""

    __slots__ = ("left",)

    def begin(self, length: int) -> None:
        """Do the work of `__init__`; `RequestHead.begin` says why."""
        self.rest = b""
        self.left = length
        self.done = length == 0

    def passed(self, size: int) -> None:
        """Count bytes that did not pass `feed`; `size` is at most `left`."""
        self.left -= size
        self.done = self.left == 0

    def feed(self, data: Buffer) -> Buffer:
        size = len(data)
        if size < self.left:
            self.left -= size
            return data
        self.done = True
        if size > self.left:
            self.rest = data[self.left :]
            data = data[: self.left]
        self.left = 0
        return data


def length_body(length: int) -> LengthBody:
    """Return a body of `length` bytes; `RequestHead.begin` says why it is created like this."""
    body = LengthBody.__new__(LengthBody)
    body.begin(length)
    return body


class EndlessBody(Body):
    """The body of an answer without a length, which ends with the connection."""

    __slots__ = ()

    def feed(self, data: Buffer) -> Buffer:
        return data


class ChunkedBody(Body):
    """A chunked body (RFC 9112, 7.1) with at most `limit` bytes; below 0 there is no limit."""

    __slots__ = ("_left", "_limit", "_line", "_lines", "_state", "_total")

    def __init__(self, limit: int = -1) -> None:
        super().__init__()
        self._limit = limit
        self._total = 0
        self._left = 0  # payload bytes of the present chunk still to come
        self._line = b""  # the bytes of an incomplete line
        self._lines: list[bytes] = []
        self._state = _SIZE

    def trailers(self) -> list[bytes]:
        return self._lines

    def feed(self, data: Buffer) -> Buffer:
        raw = self._line + bytes(data) if self._line else bytes(data)
        pieces: list[bytes] = []
        at = 0
        while not self.done:
            state = self._state
            if state == _DATA:
                after = self._data(raw, at, pieces)
            elif state == _SIZE:
                after = self._size(raw, at)
            elif state == _AFTER:
                after = self._after(raw, at)
            else:
                after = self._trailer(raw, at)
            if after < 0:
                break
            at = after
        if self.done:
            self.rest = raw[at:]
            self._line = b""
        else:
            self._line = b"" if self._state == _DATA else raw[at:]
        return pieces[0] if len(pieces) == 1 else b"".join(pieces)

    # Each step returns the position where the next one begins, or −1 if more bytes must come first.

    def _size(self, raw: bytes, at: int) -> int:
        end = raw.find(b"\r\n", at, at + LONGEST_SIZE_LINE + 2)
        if end < 0:
            if len(raw) - at > LONGEST_SIZE_LINE + 1 or b"\n" in raw[at:]:
                raise BadMessageError(400, "bad chunk size")
            return -1
        match = _SIZE_LINE.fullmatch(raw, at, end)
        if match is None:
            raise BadMessageError(400, "bad chunk size")
        self._left = int(match[1], 16)
        self._total += self._left
        if 0 <= self._limit < self._total:
            raise BadMessageError(413, f"a body of more than {self._limit} bytes")
        self._state = _DATA if self._left else _TRAILER
        return end + 2

    def _data(self, raw: bytes, at: int, pieces: list[bytes]) -> int:
        piece = raw[at : at + self._left]
        if piece:
            pieces.append(piece)
            self._left -= len(piece)
        if self._left:
            return -1
        self._state = _AFTER
        return at + len(piece)

    def _after(self, raw: bytes, at: int) -> int:
        if raw.startswith(b"\r\n", at):
            self._state = _SIZE
            return at + 2
        if raw[at:] not in (b"", b"\r"):
            raise BadMessageError(400, "a chunk longer than its size")
        return -1

    def _trailer(self, raw: bytes, at: int) -> int:
        if raw.startswith(b"\r\n", at):
            self.done = True
            return at + 2
        end = raw.find(END, at, at + TRAILER_BYTES + len(END))
        if end < 0:
            most = at + TRAILER_BYTES + len(END)
            lines = raw.count(b"\r\n", at, most)
            returns = raw.count(b"\r", at, most) - raw.endswith(b"\r")  # its LF may be next
            if raw.count(b"\n", at, most) != lines or returns > lines:
                raise BadMessageError(400, "a bare CR or LF in the trailers")
            if len(raw) >= most:
                raise BadMessageError(431, f"trailers of more than {TRAILER_BYTES} bytes")
            return -1
        self._lines = trailer_lines(b"\r\n" + raw[at : end + 2], MOST_TRAILERS)
        self.done = True
        return end + len(END)


def chunk(payload: Buffer) -> bytes:
    """Return the payload as one chunk; for no payload nothing, as an empty chunk ends the body."""
    return b"".join((b"%x\r\n" % len(payload), payload, b"\r\n")) if payload else b""


def last_chunk(trailers: list[bytes]) -> bytes:
    """Return the end of a chunked body, with its trailers."""
    return b"\r\n".join((b"0", *trailers, b"", b""))
