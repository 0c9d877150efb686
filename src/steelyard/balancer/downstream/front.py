"""Front: what all clients of a process share, and what is counted of them."""

from __future__ import annotations

import secrets
from math import inf
from typing import Protocol

from steelyard.balancer.downstream.client import Client
from steelyard.balancer.downstream.connection_limit import ConnectionLimit
from steelyard.balancer.downstream.identity import load_identity
from steelyard.balancer.downstream.total_timeout import TotalTimeout
from steelyard.balancer.exchange.shared import Shared
from steelyard.balancer.http.origin import Manner
from steelyard.balancer.pool.pool import Pool
from steelyard.config.settings import Gateway


class Entrance(Protocol):
    """Where clients come in (listener.py)."""

    def resume(self) -> None:
        """There is room for another client."""

    def leave(self) -> None:
        """Let no more clients in."""


class Front(Shared):
    """The clients that are here, the limits that hold for them, and the certificates they see.

    The control thread sets `identity`, which is looked at with each new client.
    """

    __slots__ = (
        "clients",
        "connection_limit",
        "entrances",
        "identity",
        "manner",
        "own",
        "patience",
        "proxy_protocol",
        "scheme",
        "settings",
        "total_timeout",
        "unshaken",
    )

    def __init__(self, settings: Gateway, pool: Pool) -> None:
        super().__init__(settings, pool)
        self.settings = settings
        prefix = secrets.token_hex(6).encode()
        self.manner = Manner(settings.forwarded, settings.trusted_proxies, prefix)
        self.proxy_protocol = settings.proxy_protocol == "on"  # trusted proxies send its header
        self.identity = load_identity(settings.pairs) if settings.tls_cert else None
        self.scheme = b"http" if self.identity is None else b"https"  # that clients ask by
        most, whole = settings.client_connections, settings.total_timeout
        self.connection_limit = None if most is None else ConnectionLimit(most)
        self.total_timeout = None if whole is None else TotalTimeout(self.loop, whole)
        self.entrances: list[Entrance] = []
        self.clients: set[Client] = set()
        self.patience = inf  # while draining: seconds for a client's next request to arrive
        self.unshaken = 0  # clients that did not get through the TLS handshake
        self.own: dict[int, int] = {}  # answers of our own, by status

    def joined(self, client: Client) -> None:
        """A client has come."""
        self.clients.add(client)
        if self.connection_limit is not None:
            self.connection_limit.admit(client)

    def left(self, client: Client) -> None:
        """A connection ended: there may be room for another, or nothing left to wait for."""
        self.clients.discard(client)
        if self.connection_limit is not None:
            self.connection_limit.left(client)
        if self.total_timeout is not None:
            self.total_timeout.left(client)
        if not self.draining:
            for entrance in self.entrances:
                entrance.resume()
        elif not self.clients:
            self.loop.running = False
