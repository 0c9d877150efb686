"""Heads: the parsed head of a request or an answer, and its text, which is forwarded.

The text is the first line and the end-to-end fields, mostly as received. Usually the text is the
front of the received bytes, which are kept without a copy.
"""

from __future__ import annotations

from steelyard.balancer.io.octets import cut

SLACK = 4096  # bytes behind a head that may stay in memory with it, to save a copy


def kept(data: bytes, size: int) -> bytes:
    """Return `data` itself, or a copy of its first `size` bytes if many bytes follow them."""
    return data if len(data) - size <= SLACK else cut(data, 0, size)


# The two classes share a few lines, but no base class: Cython has no free list for derived classes.
class RequestHead:
    """The head of a client's request."""

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
        """Set all attributes, with an empty text. Objects that every exchange creates have such a
        method: when compiled, a call of the type costs three times as much as a call of `__new__`
        and of a method."""
        self.method = method
        self.http11 = http11
        self.keep = http11  # the client wants to reuse the connection
        self.host = b""
        self.data = b""  # bytes that begin with the text
        self.size = 0  # length of the text in `data`
        self.length = -1  # Content-Length; −1: none
        self.hops = -1  # how many proxies may forward an OPTIONS or TRACE; −1: any number
        self.chunked = False
        self.claims: list[tuple[int, bytes]] | None = None  # kinds and values
        self.request_id = b""  # set when the request is forwarded
        self.upgrade: list[bytes] | None = None  # the protocols that the client offers
        # With sticky sessions: the fields that set the client's cookie, or b"" if it has one.
        self.session: bytes | None = None

    def front(self, data: bytes, size: int) -> None:
        """Set the text to the first `size` bytes of the received `data`."""
        self.data, self.size = kept(data, size), size

    def rewrite(self, text: bytes) -> None:
        """Replace the text."""
        self.data, self.size = text, len(text)

    @property
    def text(self) -> bytes:
        """The first line and the fields to forward."""
        return self.data[: self.size]

    @property
    def target(self) -> bytes:
        """The request target."""
        return self.text.split(b" ", 2)[1]

    @property
    def lines(self) -> list[bytes]:
        """The field lines to forward."""
        return self.text.split(b"\r\n")[1:]


class AnswerHead:
    """The head of a worker's answer; its text is always in HTTP/1.1."""

    __slots__ = ("chunked", "data", "dated", "keep", "length", "size", "status", "upgrade")

    def begin(self, status: int, http11: bool) -> None:
        """Do the work of `__init__`; `RequestHead.begin` says why."""
        self.status = status
        self.keep = http11  # the worker lets the connection be reused
        self.data = b""
        self.size = 0
        self.length = -1
        self.chunked = False
        self.dated = False  # the answer has a Date field
        self.upgrade: list[bytes] | None = None

    def front(self, data: bytes, size: int) -> None:
        """Set the text to the first `size` bytes of the received `data`."""
        self.data, self.size = kept(data, size), size

    def rewrite(self, text: bytes) -> None:
        """Replace the text."""
        self.data, self.size = text, len(text)

    @property
    def text(self) -> bytes:
        """The first line and the fields to forward."""
        return self.data[: self.size]

    @property
    def lines(self) -> list[bytes]:
        """The field lines to forward."""
        return self.text.split(b"\r\n")[1:]
