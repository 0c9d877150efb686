"""Bodies: where one ends on the way in, and how it is framed on the way out.

A body is fed whatever a socket gave; it returns the payload in it and, once it is done, keeps
what lay behind its end in `rest`. Chunked bodies are decoded and framed anew, so chunk
extensions and odd spellings of sizes never travel on.
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
    """A body on its way in."""

    __slots__ = ("done", "rest")

    def __init__(self) -> None:
        self.done = False
        self.rest: Buffer = b""  # what came behind the end

    def feed(self, data: Buffer) -> Buffer:
        """The payload in `data`."""
        raise NotImplementedError

    def trailers(self) -> list[bytes]:
        """The field lines that came behind the last chunk."""
        return []


class LengthBody(Body):
    """As many bytes as Content-Length says."""

    __slots__ = ("left",)

    def begin(self, length: int) -> None:
        """What `__init__` would do, callable as C (see `length_body`)."""
        self.rest = b""
        self.left = length
        self.done = length == 0

    def passed(self, size: int) -> None:
        """So many bytes went by unseen; no more than were left."""
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
    """One of so many bytes; see `fields.walk` for why it is made like this."""
    body = LengthBody.__new__(LengthBody)
    body.begin(length)
    return body


class EndlessBody(Body):
    """An answer without a length: it ends with the connection."""

    __slots__ = ()

    def feed(self, data: Buffer) -> Buffer:
        return data


class ChunkedBody(Body):
    """Chunks (RFC 9112, 7.1), up to `limit` bytes of payload; a limit below 0 is none."""

    __slots__ = ("_left", "_limit", "_line", "_lines", "_state", "_total")

    def __init__(self, limit: int = -1) -> None:
        super().__init__()
        self._limit = limit
        self._total = 0
        self._left = 0  # of the present chunk
        self._line = b""  # the beginning of a line that is not complete
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

    # Each step returns where the next one begins, or −1 when more must come first.

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
            returns = raw.count(b"\r", at, most) - raw.endswith(b"\r")  # its LF may come yet
            if raw.count(b"\n", at, most) != lines or returns > lines:
                raise BadMessageError(400, "a bare CR or LF in the trailers")
            if len(raw) >= most:
                raise BadMessageError(431, f"trailers of more than {TRAILER_BYTES} bytes")
            return -1
        self._lines = trailer_lines(b"\r\n" + raw[at : end + 2], MOST_TRAILERS)
        self.done = True
        return end + len(END)


def chunk(payload: Buffer) -> bytes:
    """One chunk; no payload is no chunk, for an empty one would end the body."""
    return b"".join((b"%x\r\n" % len(payload), payload, b"\r\n")) if payload else b""


def last_chunk(trailers: list[bytes]) -> bytes:
    """The end of a chunked body."""
    return b"\r\n".join((b"0", *trailers, b"", b""))
