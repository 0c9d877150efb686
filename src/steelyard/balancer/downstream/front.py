"""Front: the objects, limits and counters that all clients of a process share."""

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
    """A source of new clients; `Listener` implements it."""

    def resume(self) -> None:
        """Accept clients again: there is room for another one."""

    def leave(self) -> None:
        """Stop accepting clients, for good."""


class Front(Shared):
    """The connected clients, their limits, and the certificates that they see.

    The control thread replaces `identity`; each new connection uses the present one.
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
        self.proxy_protocol = settings.proxy_protocol == "on"  # trusted proxies send a header
        self.identity = load_identity(settings.pairs) if settings.tls_cert else None
        self.scheme = b"http" if self.identity is None else b"https"  # of the clients' URLs
        most, whole = settings.client_connections, settings.total_timeout
        self.connection_limit = None if most is None else ConnectionLimit(most)
        self.total_timeout = None if whole is None else TotalTimeout(self.loop, whole)
        self.entrances: list[Entrance] = []
        self.clients: set[Client] = set()
        self.patience = inf  # while draining: seconds for a client's next request to arrive
        self.unshaken = 0  # clients that did not get through the TLS handshake
        self.own: dict[int, int] = {}  # how many answers the balancer itself gave, by status

    def joined(self, client: Client) -> None:
        """Register a client that has connected."""
        self.clients.add(client)
        if self.connection_limit is not None:
            self.connection_limit.admit(client)

    def left(self, client: Client) -> None:
        """Forget a client whose connection ended, and accept others. While draining, stop the loop
        when the last client has left."""
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
