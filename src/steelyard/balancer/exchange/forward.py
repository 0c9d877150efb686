"""Forward: one request on its way from the client's bytes to the worker's.

This module has no socket: bytes go in, bytes come out. A `Forward` also keeps a copy of the bytes
sent, so that the request can be repeated at another worker, while the copy fits into a window.
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

# RFC 9110, 9.2.2, lists the idempotent methods.
IDEMPOTENT = frozenset({GET, b"HEAD", b"OPTIONS", b"TRACE", b"PUT", b"DELETE"})


class Forward:
    """A request that is being forwarded to a worker."""

    __slots__ = ("body", "done", "head", "held", "idempotent", "replay", "rest")

    def __init__(self, head: RequestHead, origin: Origin, body_limit: int) -> None:
        self.begin(head, origin, body_limit)

    def begin(self, head: RequestHead, origin: Origin, body_limit: int) -> None:
        """Do the work of `__init__`; `RequestHead.begin` says why."""
        self.head = head
        self.body: Body | None = _body(head, body_limit)
        self.done = self.body is None or self.body.done
        self.idempotent = head.method is GET or head.method in IDEMPOTENT
        self.rest: Buffer = b""  # bytes that the client sent behind this request
        # `replay` is the head, or None once the request cannot be repeated; `held` is the part of
        # the body given out so far. They are separate because joining them would copy them.
        self.replay: bytes | None = request_start(head, origin)
        self.held = b""

    def feed(self, data: Buffer) -> Buffer:
        """Turn bytes of the client's body into bytes for the worker."""
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
        """Keep bytes for a worker while no connection can take them."""
        if self.replay is not None:
            self.held = self.held + data if self.held else bytes(data)

    def sent(self, data: Buffer) -> None:
        """Keep a copy of bytes that a worker may have received, if the request may be repeated:
        it must be idempotent and fit into the window."""
        if self.replay is None:
            return
        if self.idempotent and self.size() + len(data) <= WINDOW:
            self.held += data
        else:
            self.give_up()

    def give_up(self) -> None:
        """Make the request unrepeatable, and free the copy of its bytes."""
        self.replay = None
        self.held = b""

    def size(self) -> int:
        """Return how many bytes are kept for a repetition."""
        return len(self.replay or b"") + len(self.held)


def _body(head: RequestHead, limit: int) -> Body | None:
    if head.chunked:
        return ChunkedBody(limit)
    if 0 <= limit < head.length:
        raise BadMessageError(413, f"a body of more than {limit} bytes")
    return length_body(head.length) if head.length > 0 else None
