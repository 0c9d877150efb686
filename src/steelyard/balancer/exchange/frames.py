"""Frames: a parser that finds where WebSocket frames begin and end (RFC 6455, 5.2).

The parser reads the frame headers for the payload lengths, because the balancer can insert a frame
of its own only between two frames of a peer. It reads the opcode to recognise a Close frame, which
no other frame may follow.
"""

from __future__ import annotations

from steelyard.balancer.http.heads import AnswerHead
from steelyard.balancer.io.octets import Buffer

CLOSE = 0x8
MASKED = 0x80
EXTENDED = {126: 2, 127: 8}  # a marker instead of the length: octets of the length behind it
GOING_AWAY = 1001


def is_websocket(head: AnswerHead | None) -> bool:
    """Whether a 101 answer agrees to RFC 6455; the drafts before RFC 6455 had other frames."""
    if head is None or [name.lower() for name in head.upgrade or ()] != [b"websocket"]:
        return False
    names = [line.partition(b":")[0].lower() for line in head.lines]
    return b"sec-websocket-accept" in names


class Frames:
    """The parser for one direction of a WebSocket."""

    __slots__ = ("_header", "_left", "_need", "closed", "lost")

    def __init__(self) -> None:
        self._header = bytearray()  # the octets of an incomplete frame header
        self._need = 2  # the header's size, as far as the octets read so far tell it
        self._left = 0  # payload octets still to come
        self.closed = False  # a Close frame has passed
        self.lost = False  # the octets are not valid frames, so frame ends are unknown from now on

    @property
    def between(self) -> bool:
        """Whether the last frame is complete, and the next one has not begun."""
        return not self._left and not self._header and not self.lost

    def feed(self, data: Buffer) -> None:
        """Parse octets that are passed on to the other side."""
        at, size = 0, len(data)
        while at < size:
            at = self.step(data, at)

    def step(self, data: Buffer, at: int) -> int:
        """Parse from `at` to the end of the present frame or of `data`; return that position."""
        size = len(data)
        if self.lost:
            return size
        while not self._left:
            if at == size:
                return at
            self._header.append(data[at])
            at += 1
            if len(self._header) == self._need and self._complete():
                return at  # a frame without a payload
            if self.lost:
                return size
        taken = min(self._left, size - at)
        self._left -= taken
        return at + taken

    def _complete(self) -> bool:
        """Interpret the header octets read so far; return whether they are a whole frame."""
        header = self._header
        length = header[1] & 0x7F
        more = EXTENDED.get(length, 0)
        whole = 2 + more + (4 if header[1] & MASKED else 0)
        if len(header) < whole:
            self._need = whole
            return False
        if more:
            length = int.from_bytes(header[2 : 2 + more])
        self.lost = length >= 1 << 63  # RFC 6455, 5.2: the most significant bit must be 0
        self.closed = self.closed or header[0] & 0x0F == CLOSE
        self._left = 0 if self.lost else length
        self._need = 2
        header.clear()
        return not length


def close_frame(mask: bytes = b"") -> bytes:
    """Return a Close frame with code 1001 (going away). A frame to a server needs a `mask`."""
    payload = GOING_AWAY.to_bytes(2)
    if not mask:
        return bytes((0x80 | CLOSE, len(payload))) + payload
    hidden = bytes(octet ^ key for octet, key in zip(payload, mask, strict=False))
    return bytes((0x80 | CLOSE, MASKED | len(payload))) + mask + hidden
