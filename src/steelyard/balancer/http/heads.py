"""Heads: what was understood of a request's or an answer's head, and its text, to be forwarded.

The text is the first line and the fields that are not between two neighbours alone, as they came:
mostly the front of what was received, which is not copied to be kept.
"""

from __future__ import annotations

from steelyard.balancer.io.octets import cut

SLACK = 4096  # what may be kept behind a head for nothing, while its exchange lasts


def kept(data: bytes, size: int) -> bytes:
    """What was received, or a copy of its front, where a large part of a body is behind that."""
    return data if len(data) - size <= SLACK else cut(data, 0, size)


# The two share a few lines, and no base class: Cython keeps no free list for derived classes.
class RequestHead:
    """What a client asks for."""

    __slots__ = (
        "chunked",
        "claims",
        "data",
        "hops",
        "host",
        "http11",
        "keep",
        "length",
        "method",
        "request_id",
        "session",
        "size",
        "upgrade",
    )

    def __init__(self, method: bytes, text: bytes, http11: bool) -> None:
        self.begin(method, http11)
        self.rewrite(text)

    def begin(self, method: bytes, http11: bool) -> None:
        """All but the text. What every exchange makes is made like this: compiled, to call a type
        costs three times as much as to call `__new__` and a method."""
        self.method = method
        self.http11 = http11
        self.keep = http11  # the client would like to use the connection again
        self.host = b""
        self.data = b""  # the text is at its front,
        self.size = 0  # and so long
        self.length = -1  # none declared
        self.hops = -1  # how many proxies may forward an OPTIONS or TRACE; −1: any number
        self.chunked = False
        self.claims: list[tuple[int, bytes]] | None = None  # about its origin: field and value
        self.request_id = b""  # given when it is forwarded
        self.upgrade: list[bytes] | None = None  # the protocols that the client would rather speak
        # With sticky sessions: the fields that tell the client of its session, maybe none.
        self.session: bytes | None = None

    def front(self, data: bytes, size: int) -> None:
        """Have this for text: so much of what was received."""
        self.data, self.size = kept(data, size), size

    def rewrite(self, text: bytes) -> None:
        """Have another text."""
        self.data, self.size = text, len(text)

    @property
    def text(self) -> bytes:
        """What is forwarded as it came."""
        return self.data[: self.size]

    @property
    def target(self) -> bytes:
        """What is asked for."""
        return self.text.split(b" ", 2)[1]

    @property
    def lines(self) -> list[bytes]:
        """The fields to forward, one by one."""
        return self.text.split(b"\r\n")[1:]


class AnswerHead:
    """What a worker answers; its text is always in HTTP/1.1."""

    __slots__ = ("chunked", "data", "dated", "keep", "length", "size", "status", "upgrade")

    def begin(self, status: int, http11: bool) -> None:
        """What `__init__` would do (see `RequestHead.begin`)."""
        self.status = status
        self.keep = http11  # the worker would like to use the connection again
        self.data = b""
        self.size = 0
        self.length = -1
        self.chunked = False
        self.dated = False  # it says when it was given
        self.upgrade: list[bytes] | None = None

    def front(self, data: bytes, size: int) -> None:
        """Have this for text: so much of what was received."""
        self.data, self.size = kept(data, size), size

    def rewrite(self, text: bytes) -> None:
        """Have another text."""
        self.data, self.size = text, len(text)

    @property
    def text(self) -> bytes:
        """What is forwarded as it came."""
        return self.data[: self.size]

    @property
    def lines(self) -> list[bytes]:
        """The fields to forward, one by one."""
        return self.text.split(b"\r\n")[1:]
