"""Client: what the rest of the balancer needs of a client's connection.

`Http1Client` is one. The listener's helpers (shedding, the connection limit, the total timeout, the
PROXY header, the TLS handshake) know this contract only.
"""

from __future__ import annotations

from steelyard.balancer.exchange.exchange import Exchange
from steelyard.balancer.exchange.ports import Downstream
from steelyard.balancer.io.tls import Tls


class Client(Downstream):
    """A client's connection, whatever it speaks."""

    __slots__ = ("exchange",)

    exchange: Exchange | None  # the request that is being answered

    @property
    def trusted(self) -> bool:
        """Whether the client is a trusted proxy that speaks for itself."""
        raise NotImplementedError

    # From the PROXY header

    def proxied(self, source: str | None, tls: bool, rest: bytes) -> None:
        """A proxy told whose connection it passes on; `rest` came behind its header."""
        raise NotImplementedError

    # From the TLS handshake

    def secured(self, tls: Tls) -> None:
        """The handshake is over: the rest is said over TLS."""
        raise NotImplementedError

    def unshaken(self) -> None:
        """The handshake failed."""
        raise NotImplementedError

    def unsecured(self, data: bytes) -> None:
        """The client speaks HTTP where TLS is spoken; `data` is what it sent."""
        raise NotImplementedError

    # From the plane

    def hasten(self) -> None:
        """The balancer stops: go soon, unless a request is here; one may be on its way."""
        raise NotImplementedError

    # From the shedding

    def standing(self) -> tuple[int, float]:
        """What the client keeps us waiting for (a rank of shedding.py), and since when."""
        raise NotImplementedError

    def shed(self) -> bool:
        """Go, to make room; False when a request has just come."""
        raise NotImplementedError
