"""Forward: one request on its way from the client's bytes to the worker's.

No socket here: bytes in, bytes out. It also remembers what it gave out, so that the request can
be sent once more to another worker, for as long as that fits into a window.
"""

from __future__ import annotations

from steelyard.balancer.http.fields import BadMessageError
from steelyard.balancer.http.framing import (
    Body,
    ChunkedBody,
    chunk,
    last_chunk,
    length_body,
)
from steelyard.balancer.http.heads import RequestHead
from steelyard.balancer.http.names import GET
from steelyard.balancer.http.origin import Origin
from steelyard.balancer.http.rewriting import request_start
from steelyard.balancer.io.octets import Buffer

WINDOW = 64 * 1024

# RFC 9110, 9.2.2
IDEMPOTENT = frozenset({GET, b"HEAD", b"OPTIONS", b"TRACE", b"PUT", b"DELETE"})


class Forward:
    """A request being forwarded."""

    __slots__ = ("body", "done", "head", "held", "idempotent", "replay", "rest")

    def __init__(self, head: RequestHead, origin: Origin, body_limit: int) -> None:
        self.begin(head, origin, body_limit)

    def begin(self, head: RequestHead, origin: Origin, body_limit: int) -> None:
        """What `__init__` does (see `RequestHead.begin`)."""
        self.head = head
        self.body: Body | None = _body(head, body_limit)
        self.done = self.body is None or self.body.done
        self.idempotent = head.method is GET or head.method in IDEMPOTENT
        self.rest: Buffer = b""  # what the client sent behind this request
        # The head, or None when the request cannot be repeated any more, and what of the body was
        # given out so far: apart, because putting them together would copy them.
        self.replay: bytes | None = request_start(head, origin)
        self.held = b""

    def feed(self, data: Buffer) -> Buffer:
        """Bytes of the client's body → bytes for the worker."""
        body = self.body
        if body is None or self.done:
            self.rest = data
            return b""
        payload = body.feed(data)
        if body.done:
            self.done = True
            self.rest = body.rest
        if not self.head.chunked:
            return payload
        out = chunk(payload)
        return out + last_chunk(body.trailers()) if body.done else out

    def hold(self, data: Buffer) -> None:
        """Keep bytes that wait for a connection."""
        if self.replay is not None:
            self.held = self.held + data if self.held else bytes(data)

    def sent(self, data: Buffer) -> None:
        """Note bytes that a worker may have: they can be repeated only if that does no harm."""
        if self.replay is None:
            return
        if self.idempotent and self.size() + len(data) <= WINDOW:
            self.held += data
        else:
            self.give_up()

    def give_up(self) -> None:
        """It cannot be repeated from now on."""
        self.replay = None
        self.held = b""

    def size(self) -> int:
        """How much is kept."""
        return len(self.replay or b"") + len(self.held)


def _body(head: RequestHead, limit: int) -> Body | None:
    if head.chunked:
        return ChunkedBody(limit)
    if 0 <= limit < head.length:
        raise BadMessageError(413, f"a body of more than {limit} bytes")
    return length_body(head.length) if head.length > 0 else None
