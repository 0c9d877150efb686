"""ConnectionLimit: counts the connections of each client address, and refuses the excess."""

from __future__ import annotations

import logging

from steelyard.balancer.downstream.client import Client

log = logging.getLogger(__name__)


class ConnectionLimit:
    """Counts connections by client address. Connections of trusted proxies are not counted, because
    many clients share a proxy's address.

    A `ConnectionLimit` exists only if `gateway.client_connections` is set.
    """

    __slots__ = ("_counts", "_limit", "_members", "_warned")

    def __init__(self, limit: int) -> None:
        self._limit = limit
        self._counts: dict[bytes, int] = {}
        self._members: dict[Client, bytes] = {}
        self._warned = False

    def admit(self, client: Client) -> bool:
        """Count a client's connection, or reset it when its address has too many. The client gets
        no answer, because an answer would cost more than a reset."""
        if client.trusted:
            return True
        peer = client.peer
        count = self._counts.get(peer, 0)
        if count >= self._limit:
            self._refuse(client, peer)
            return False
        self._counts[peer] = count + 1
        self._members[client] = peer
        return True

    def left(self, client: Client) -> None:
        """Stop counting a client that left, if it was counted."""
        peer = self._members.pop(client, None)
        if peer is None:
            return
        self._counts[peer] -= 1
        if not self._counts[peer]:
            del self._counts[peer]

    def _refuse(self, client: Client, peer: bytes) -> None:
        if not self._warned:  # warn once: such a client tries again and again
            self._warned = True
            log.warning("%s has %d connections and gets no more", peer.decode(), self._limit)
        client.reset()
