"""Worker: where requests can go, what it has to do for us, and our idle connections to it."""

from __future__ import annotations

import socket
from typing import TypeAlias

from steelyard.balancer.io.stream import Stream
from steelyard.balancer.pool.counters import Bell, Tally
from steelyard.balancer.pool.ejection import Record
from steelyard.balancer.pool.guard import Guard

SocketAddress: TypeAlias = tuple[str, int] | tuple[str, int, int, int]


class Connection(Stream):
    """A connection to a worker, as the worker keeps it while it is idle (upstream.py)."""

    __slots__ = ()

    def quiet(self) -> bool:
        """Whether the worker has neither closed this idle connection nor sent anything on it."""
        raise NotImplementedError


class Member(Tally):
    """A worker's counts. Selectors choose among members, and do not know workers."""

    __slots__ = ("worker",)

    def __init__(self, bell: Bell, worker: Worker) -> None:
        super().__init__(bell)
        self.worker = worker

    @property
    def name(self) -> str:
        """The worker's place among others (consistent hash)."""
        return repr(self.worker)


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
        self.tally = Member(bell, self)
        self.record = Record()
        self.idle: list[Connection] = []
        self._ended = 0  # of those, so many have ended since
        self.serving = False  # in the ring now

    def __repr__(self) -> str:
        return f"<Worker {self.name} at {self.address[0]}:{self.address[1]}>"

    def take(self, careful: bool) -> Connection | None:
        """The connection used last, which is the least likely to be closed by the worker.

        A `careful` taker cannot repeat its request: each connection is looked at first, because
        the loop may not have come to the event yet that says it is closed.
        """
        while self.idle:
            connection = self.idle.pop()
            if not connection.open:
                self._ended -= 1
                continue
            if not careful or connection.quiet():
                return connection
            connection.close()
        return None

    def lost(self) -> None:
        """An idle connection ended; such are swept out when they are most of what is kept."""
        self._ended += 1
        if 2 * self._ended > len(self.idle):
            self.idle = [connection for connection in self.idle if connection.open]
            self._ended = 0

    def leave(self) -> None:
        """Out of the ring: nothing new goes there, so idle connections are of no use."""
        self.serving = False
        while self.idle:
            self.idle.pop().close()
        self._ended = 0
