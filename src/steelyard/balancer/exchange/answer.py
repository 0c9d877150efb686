"""Answer: one answer on its way from the worker's bytes to the client's.

This module has no socket: bytes go in, bytes come out. Interim answers (1xx) pass through before
the final answer. The final answer's body gets a framing that the client's version of HTTP
understands. Bytes behind a 101 belong to another protocol and are passed on unchanged.
"""

from __future__ import annotations

from steelyard.balancer.http.date import Date
from steelyard.balancer.http.fields import BadMessageError
from steelyard.balancer.http.framing import (
    Body,
    ChunkedBody,
    EndlessBody,
    LengthBody,
    chunk,
    last_chunk,
    length_body,
)
from steelyard.balancer.http.grammar import Reader
from steelyard.balancer.http.heads import AnswerHead, RequestHead
from steelyard.balancer.http.rewriting import answer_start, interim, switching
from steelyard.balancer.io.octets import Buffer, cut


class Answer:
    """The answer to one request."""

    __slots__ = (
        "_body",
        "_chunked",
        "_date",
        "_inbox",
        "_reader",
        "_request",
        "_rest",
        "behind",
        "done",
        "head",
        "head_size",
        "keep",
        "switched",
        "until_close",
    )

    def __init__(self, request: RequestHead, reader: Reader, date: Date) -> None:
        self.begin(request, reader, date)

    def begin(self, request: RequestHead, reader: Reader, date: Date) -> None:
        """Do the work of `__init__`; `RequestHead.begin` says why."""
        self._request = request
        self._reader = reader
        self._date = date
        self._inbox = b""  # the bytes of an incomplete head
        self._body: Body | None = None
        self._chunked = False  # the client gets the body in chunked coding
        self._rest = False  # the worker sent bytes behind the end of its answer
        self.head: AnswerHead | None = None  # the head of the final answer, or of a 101
        self.head_size = 0  # bytes of the head as it was sent to the client
        self.done = False
        self.keep = False  # the client's connection outlives this answer
        self.behind = b""  # bytes of the new protocol that came together with the head of a 101
        self.switched = False  # the worker agreed to the protocol that the client asked for
        self.until_close = False  # only the close of its connection tells the client the end

    def reusable(self) -> bool:
        """Whether the worker's connection can carry another exchange after this one."""
        return self.done and not self._rest and self.head is not None and self.head.keep

    def feed(self, data: Buffer, closing: bool) -> Buffer:
        """Turn the worker's bytes into bytes for the client; `closing`: its connection must end."""
        if self.head is not None:
            return self._relay(data)
        seen = len(self._inbox)
        raw = self._inbox + data if seen else data if isinstance(data, bytes) else bytes(data)
        out = b""
        while True:
            head = self._reader.answer(raw, seen)
            if head is None:
                self._inbox = raw
                return out
            seen = 0
            behind = cut(raw, self._reader.end, len(raw))
            if head.status >= 200:
                break
            raw = behind
            if head.status == 101:
                self.behind = raw
                return out + self._switch(head) + raw
            out += self._interim(head)
        self._inbox = b""
        start = self._open(head, closing, behind)
        return out + start if out else start  # `out` holds interim answers

    def left(self) -> int:
        """Return how many bytes of a body of known length are still to come."""
        body = self._body
        return body.left if isinstance(body, LengthBody) and not self.done else 0

    def passed(self, size: int) -> None:
        """Count body bytes that went from the worker to the client without passing `feed`."""
        body = self._body
        if isinstance(body, LengthBody):
            body.passed(size)
            self.done = body.done

    def end(self) -> bytes:
        """Take the close of the worker's connection as the end of a body that has no length; raise
        an error for any other body, which is incomplete."""
        if not isinstance(self._body, EndlessBody):
            raise BadMessageError(502, "the worker's answer was cut")
        self.done = True
        return last_chunk([]) if self._chunked else b""

    def _interim(self, head: AnswerHead) -> bytes:
        return interim(head) if self._request.http11 else b""

    def _switch(self, head: AnswerHead) -> bytes:
        asked = [protocol.lower() for protocol in self._request.upgrade or ()]
        if not head.upgrade or any(name.lower() not in asked for name in head.upgrade):
            raise BadMessageError(502, "the worker switched protocols unasked")
        self.head = head
        self.switched = True
        return switching(head, self._request)

    def _open(self, head: AnswerHead, closing: bool, data: bytes) -> bytes:
        """Return the final answer's head for the client, with the body bytes that are here."""
        request = self._request
        self.head = head
        self.keep = request.keep and not closing
        whole = False
        if request.method == b"HEAD" or head.status in (204, 304):
            self.done = True
        elif head.length >= 0:
            whole = self.done = head.length == len(data)
            if not whole:
                self._body = length_body(head.length)
                self.done = head.length == 0
        else:
            self._body = ChunkedBody() if head.chunked else EndlessBody()
            head.keep = head.keep and head.chunked
            self._chunked = request.http11
            self.until_close = not request.http11
            self.keep = self.keep and request.http11
        here = data if whole or not data else bytes(self._relay(data))
        start = answer_start(head, self._chunked, self.keep, request, self._date, here)
        self.head_size = len(start) - len(here)
        return start

    def _relay(self, data: Buffer) -> Buffer:
        body = self._body
        if body is None or self.done:
            self._rest = len(data) > 0
            return b""
        payload = body.feed(data)
        if body.done:
            self.done = True
            self._rest = len(body.rest) > 0
        if not self._chunked:
            return payload
        out = chunk(payload)
        return out + last_chunk(body.trailers()) if body.done else out
