"""Worker: where requests can go, what it has to do for us, and our idle connections to it."""

from __future__ import annotations

import socket
from typing import TYPE_CHECKING, TypeAlias

from steelyard.balancer.pool.counters import Bell, Tally
from steelyard.balancer.pool.ejection import Record

if TYPE_CHECKING:
    from steelyard.balancer.pool.guard import Guard
    from steelyard.balancer.pool.upstream import Upstream

SocketAddress: TypeAlias = tuple[str, int] | tuple[str, int, int, int]


class Worker:
    """One worker at one address.

    Made by the control thread; from then on `idle` and `serving` belong to the data thread.
    """

    __slots__ = (
        "_ended", "address", "family", "guard", "idle", "name", "record", "serving", "tally",
    )  # fmt: skip

    def __init__(
        self, name: str, family: socket.AddressFamily, address: SocketAddress, bell: Bell
    ) -> None:
        self.name = name
        self.family = family
        self.address = address
        self.guard: Guard | None = None  # None: whoever listens there is the worker
        self.tally = Tally(bell, self)
        self.record = Record()
        self.idle: list[Upstream] = []
        self._ended = 0  # of those, so many have ended since
        self.serving = False  # in the ring now

    def __repr__(self) -> str:
        return f"<Worker {self.name} at {self.address[0]}:{self.address[1]}>"

    def take(self, careful: bool) -> Upstream | None:
        """The connection used last, which is the least likely to be closed by the worker.

        A `careful` taker cannot repeat its request: each connection is looked at first, because
        the loop may not have come to the event yet that says it is closed.
        """
        while self.idle:
            upstream = self.idle.pop()
            if not upstream.open:
                self._ended -= 1
                continue
            if not careful or upstream.quiet():
                return upstream
            upstream.close()
        return None

    def lost(self) -> None:
        """An idle connection ended; such are swept out when they are most of what is kept."""
        self._ended += 1
        if 2 * self._ended > len(self.idle):
            self.idle = [upstream for upstream in self.idle if upstream.open]
            self._ended = 0

    def leave(self) -> None:
        """Out of the ring: nothing new goes there, so idle connections are of no use."""
        self.serving = False
        while self.idle:
            self.idle.pop().close()
        self._ended = 0
