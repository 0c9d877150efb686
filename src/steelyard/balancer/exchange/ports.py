"""Ports: what an exchange needs of the connection that it answers on.

A client's connection implements `Downstream` (downstream/http1.py); an exchange knows nothing else
of clients. The other side of an exchange is the pool's `Upstream`.
"""

from __future__ import annotations

from steelyard.balancer.http.heads import RequestHead
from steelyard.balancer.io.stream import Stream


class Downstream(Stream):
    """The connection of the client that asked."""

    __slots__ = ("buffer", "eof")

    buffer: bytes  # received, and not yet part of a request
    eof: bool  # the client will send no more

    @property
    def peer(self) -> bytes:
        """The client's address, or the address that a trusted proxy speaks for."""
        raise NotImplementedError

    def hurry(self) -> None:
        """It is the client's turn: start its time limit for the next byte."""
        raise NotImplementedError

    def finished(self, keep: bool) -> None:
        """The exchange is over: go on with the next request, or end when it is not to `keep`."""
        raise NotImplementedError

    def refuse(self, status: int, reason: str, keep: bool, bodiless: bool) -> None:
        """End the exchange with an answer of our own that says why no worker's came."""
        raise NotImplementedError

    def answer_options(self, head: RequestHead, keep: bool) -> None:
        """End the exchange with our own answer to an OPTIONS request."""
        raise NotImplementedError

    def cut(self, reset: bool) -> None:
        """End in the middle of an answer, so that the client notices."""
        raise NotImplementedError

    def give_up(self) -> bytes:
        """Leave the connection to a tunnel; the bytes that came early belong to it."""
        raise NotImplementedError
