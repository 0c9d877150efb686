"""ConnectionLimit: counts the connections of each client address, and refuses one too many."""

from __future__ import annotations

import logging

from steelyard.balancer.downstream.client import Client

log = logging.getLogger(__name__)


class ConnectionLimit:
    """Counts connections by address. Trusted proxies are not counted: many clients share theirs.

    It is made only when `gateway.client_connections` is set.
    """

    __slots__ = ("_counts", "_limit", "_members", "_warned")

    def __init__(self, limit: int) -> None:
        self._limit = limit
        self._counts: dict[bytes, int] = {}
        self._members: dict[Client, bytes] = {}
        self._warned = False

    def admit(self, client: Client) -> bool:
        """Count a client; one too many is cut off, without an answer that would cost us more."""
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
        if not self._warned:  # once: a client that does this does it often
            self._warned = True
            log.warning("%s has %d connections and gets no more", peer.decode(), self._limit)
        client.reset()
