"""Shedding: which clients are closed when there is no room for one more.

nginx, short of connections, closes those that are idle between two requests, the oldest first
(ngx_drain_connections). Heads and bodies that do not come hold a place as well, and in nginx keep
it until their time-out: a client that opens enough of them shuts all others out. Here they are
closed too, after the idle ones. Clients that wait for a worker, or use a tunnel, stay.
"""

from __future__ import annotations

import logging

from steelyard.balancer.downstream.client import Client
from steelyard.balancer.downstream.front import Front

log = logging.getLogger(__name__)

# What a client keeps us waiting for; clients are closed in this order.
PARTING, IDLE, HEAD, BODY, NEEDED = range(5)
# A client that has had less time than this may have bytes on their way, and is spared.
GRACE = (1.0, 1.0, 1.0, 2.0)
SHARE = 16  # one in so many goes at a time: a look at all of them pays for many newcomers
BREATH = 0.25  # after a look that found too few


class Shedding:
    """Makes room, oldest first."""

    __slots__ = ("_barren_until", "_front", "_warned")

    def __init__(self, front: Front) -> None:
        self._front = front
        self._barren_until = 0.0
        self._warned = False

    def make_room(self) -> bool:
        """Close some clients that can be spared; False when there are none."""
        now = self._front.loop.now
        if now < self._barren_until:
            return False
        wanted = -(-len(self._front.clients) // SHARE)
        found = self._spare(now)[:wanted]
        if len(found) < wanted:
            self._barren_until = now + BREATH
        closed = sum(client.shed() for _, _, _, client in found)
        if closed and not self._warned:  # once: it comes in floods
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
                found.append((rank, since, client.fd, client))  # the fd settles a tie
        found.sort()
        return found
