"""Frames: where the frames of a WebSocket begin and end (RFC 6455, 5.2).

Only headers are read, for the lengths in them: a frame of ours can be put between two frames of a
peer's, and nowhere else. The opcode is looked at for one thing: behind a Close frame nothing may
follow.
"""

from __future__ import annotations

from steelyard.balancer.http.heads import AnswerHead
from steelyard.balancer.io.octets import Buffer

CLOSE = 0x8
MASKED = 0x80
EXTENDED = {126: 2, 127: 8}  # octets of a length that the header's second octet has no room for
GOING_AWAY = 1001


def is_websocket(head: AnswerHead | None) -> bool:
    """Whether an answer of 101 agrees to RFC 6455; the drafts before it framed otherwise."""
    if head is None or [name.lower() for name in head.upgrade or ()] != [b"websocket"]:
        return False
    names = [line.partition(b":")[0].lower() for line in head.lines]
    return b"sec-websocket-accept" in names


class Frames:
    """One direction of a WebSocket."""

    __slots__ = ("_header", "_left", "_need", "closed", "lost")

    def __init__(self) -> None:
        self._header = bytearray()  # of the present frame, until it is complete
        self._need = 2  # octets that the header has, as far as is known
        self._left = 0  # octets of the payload that are to come
        self.closed = False  # a Close frame went by
        self.lost = False  # what went by are no frames

    @property
    def between(self) -> bool:
        """Whether the last frame is complete, and the next one has not begun."""
        return not self._left and not self._header and not self.lost

    def feed(self, data: Buffer) -> None:
        """These octets went by."""
        at, size = 0, len(data)
        while at < size:
            at = self.step(data, at)

    def step(self, data: Buffer, at: int) -> int:
        """Go on from this position to the end of the present frame, or of the data; where is it?"""
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
        """All that was needed of the header is here; tell whether the frame is, too."""
        header = self._header
        length = header[1] & 0x7F
        more = EXTENDED.get(length, 0)
        whole = 2 + more + (4 if header[1] & MASKED else 0)
        if len(header) < whole:
            self._need = whole
            return False
        if more:
            length = int.from_bytes(header[2 : 2 + more])
        self.lost = length >= 1 << 63  # the first bit must be 0
        self.closed = self.closed or header[0] & 0x0F == CLOSE
        self._left = 0 if self.lost else length
        self._need = 2
        header.clear()
        return not length


def close_frame(mask: bytes = b"") -> bytes:
    """A Close frame that says why: the end point goes away. One to a server is masked."""
    payload = GOING_AWAY.to_bytes(2)
    if not mask:
        return bytes((0x80 | CLOSE, len(payload))) + payload
    hidden = bytes(octet ^ key for octet, key in zip(payload, mask, strict=False))
    return bytes((0x80 | CLOSE, MASKED | len(payload))) + mask + hidden
