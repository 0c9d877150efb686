"""Shedding: closes clients that can be spared when there is no room for a new one.

nginx, short of connections, closes connections that are idle between two requests, the oldest first
(ngx_drain_connections). A client that does not complete its head or body holds a connection as
well, and nginx keeps it until its time-out: an attacker who opens enough of them shuts all other
clients out. Steelyard closes such clients too, after the idle ones. It keeps clients that wait for
a worker or use a tunnel.
"""

from __future__ import annotations

import logging

from steelyard.balancer.downstream.client import Client
from steelyard.balancer.downstream.front import Front

log = logging.getLogger(__name__)

# The ranks tell what the balancer waits for: the client's close, its next request, its head or its
# body. Clients are closed in the order of their ranks; a NEEDED client is never closed.
PARTING, IDLE, HEAD, BODY, NEEDED = range(5)
# Seconds, by rank: a client that had less time is spared, as its bytes may be on their way.
GRACE = (1.0, 1.0, 1.0, 2.0)
SHARE = 16  # one client in SHARE is closed at a time, so that one search makes room for many
BREATH = 0.25  # seconds until the next search, after a search that found too few clients


class Shedding:
    """Closes the clients that can be spared, by rank, and the longest waiting first."""

    __slots__ = ("_barren_until", "_front", "_warned")

    def __init__(self, front: Front) -> None:
        self._front = front
        self._barren_until = 0.0
        self._warned = False

    def make_room(self) -> bool:
        """Close some clients that can be spared; return False if none was closed."""
        now = self._front.loop.now
        if now < self._barren_until:
            return False
        wanted = -(-len(self._front.clients) // SHARE)
        found = self._spare(now)[:wanted]
        if len(found) < wanted:
            self._barren_until = now + BREATH
        closed = sum(client.shed() for _, _, _, client in found)
        if closed and not self._warned:  # warn once: shedding comes in floods
            self._warned = True
            log.warning(
                "no room for more than %d clients: those that are idle or slow are closed",
                len(self._front.clients) + closed,
            )
        return closed > 0

    def _spare(self, now: float) -> list[tuple[int, float, int, Client]]:
        found = []
        for client in self._front.clients:
            rank, since = client.standing()
            if rank != NEEDED and now - since > GRACE[rank]:
                found.append((rank, since, client.fd, client))  # fd: clients cannot be compared
        found.sort()
        return found
