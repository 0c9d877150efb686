"""Client: the interface of a client's connection for the rest of the balancer.

`Http1Client` implements it. The listener's helpers (shedding, the connection limit, the total
timeout, the PROXY header, the TLS handshake) use only this interface.
"""

from __future__ import annotations

from steelyard.balancer.exchange.exchange import Exchange
from steelyard.balancer.exchange.ports import Downstream
from steelyard.balancer.io.tls import Tls


class Client(Downstream):
    """A client's connection, independent of its protocol."""

    __slots__ = ("exchange",)

    exchange: Exchange | None  # the request that is being answered

    @property
    def trusted(self) -> bool:
        """Whether the client's address, or the one a PROXY header named, is a trusted proxy's."""
        raise NotImplementedError

    # Called by the PROXY header's handler

    def proxied(self, source: str | None, tls: bool, rest: bytes) -> None:
        """Take the client address from a PROXY header; `rest` is the data behind the header."""
        raise NotImplementedError

    # Called by the TLS handshake's handler

    def secured(self, tls: Tls) -> None:
        """Use TLS from now on: the handshake is complete."""
        raise NotImplementedError

    def unshaken(self) -> None:
        """Close the connection: the handshake failed."""
        raise NotImplementedError

    def unsecured(self, data: bytes) -> None:
        """Refuse a client that sent HTTP without TLS to a TLS port; `data` is what it sent."""
        raise NotImplementedError

    # Called by the plane

    def hasten(self) -> None:
        """Close soon, as the balancer is stopping, unless a request is in progress. The delay lets
        a request that is on its way arrive."""
        raise NotImplementedError

    # Called by the shedding

    def standing(self) -> tuple[int, float]:
        """Return what the balancer waits for (a rank of shedding.py), and since when."""
        raise NotImplementedError

    def shed(self) -> bool:
        """Close, to make room; return False if a request has just arrived."""
        raise NotImplementedError
