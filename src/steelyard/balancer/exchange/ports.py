"""Ports: the interface that a client connection offers to an exchange.

A client's connection implements `Downstream` (downstream/http1.py); an exchange knows nothing else
about clients. The other side of an exchange is the pool's `Upstream`.
"""

from __future__ import annotations

from steelyard.balancer.http.heads import RequestHead
from steelyard.balancer.io.stream import Stream


class Downstream(Stream):
    """The connection of the client that sent the request."""

    __slots__ = ("buffer", "eof")

    buffer: bytes  # bytes received that belong to no request yet
    eof: bool  # the client will send no more

    @property
    def peer(self) -> bytes:
        """The client's address, or the address that a trusted proxy speaks for."""
        raise NotImplementedError

    def hurry(self) -> None:
        """Start the time limit for the client to send or to read the next byte."""
        raise NotImplementedError

    def finished(self, keep: bool) -> None:
        """End the exchange. `keep`: serve the next request; otherwise close the connection."""
        raise NotImplementedError

    def refuse(self, status: int, reason: str, keep: bool, bodiless: bool) -> None:
        """End the exchange with an answer of our own that says why no worker answered."""
        raise NotImplementedError

    def answer_options(self, head: RequestHead, keep: bool) -> None:
        """End the exchange with our own answer to an OPTIONS request."""
        raise NotImplementedError

    def cut(self, reset: bool) -> None:
        """Close the connection within an answer, so that the client notices the truncation."""
        raise NotImplementedError

    def give_up(self) -> bytes:
        """Hand the connection over to a tunnel; return the bytes received behind the request."""
        raise NotImplementedError
