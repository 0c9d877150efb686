"""Worker: the address of a worker, its counts, and the idle connections to it."""

from __future__ import annotations

import socket
from typing import Any, TypeAlias

from steelyard.balancer.io.stream import Stream
from steelyard.balancer.pool.counters import Bell, Tally
from steelyard.balancer.pool.ejection import Record
from steelyard.balancer.pool.guard import Guard

SocketAddress: TypeAlias = tuple[str, int] | tuple[str, int, int, int]


class Connection(Stream):
    """An idle connection as a `Worker` object keeps it; upstream.py implements it."""

    __slots__ = ()

    def quiet(self) -> bool:
        """Whether the worker has neither closed this idle connection nor sent anything on it."""
        raise NotImplementedError


class Member(Tally):
    """The counts of a worker. Selectors choose among members, and know nothing of workers."""

    __slots__ = ("worker",)

    def __init__(self, bell: Bell, worker: Worker) -> None:
        super().__init__(bell)
        self.worker = worker

    @property
    def name(self) -> str:
        """The key that places the worker on the ring of the consistent hash."""
        return repr(self.worker)


class Worker:
    """One worker at one address.

    The control thread creates a worker; from then on, its idle connections and `serving` belong to
    the data thread.
    """

    __slots__ = (
        "_ended", "_idle", "_kept", "address", "family", "guard", "name", "record", "serving",
        "tally",
    )  # fmt: skip

    def __init__(
        self, name: str, family: socket.AddressFamily, address: SocketAddress, bell: Bell
    ) -> None:
        self.name = name
        self.family = family
        self.address = address
        self.guard: Guard | None = None  # None: the port's owner is not checked
        self.tally = Member(bell, self)
        self.record = Record()
        # The free places of this stack hold None. The list does not shrink, because a list that
        # loses and regains its only element with every request is allocated anew each time.
        self._idle: list[Any] = []
        self._kept = 0  # idle connections on the stack
        self._ended = 0  # how many connections on the stack have ended
        self.serving = False  # whether the present table contains this worker

    def __repr__(self) -> str:
        return f"<Worker {self.name} at {self.address[0]}:{self.address[1]}>"

    @property
    def idle(self) -> list[Connection]:
        """The idle connections, the most recently used at the end."""
        return self._idle[: self._kept]

    def keep(self, connection: Connection) -> None:
        """Keep a connection for the next request."""
        if self._kept < len(self._idle):
            self._idle[self._kept] = connection
        else:
            self._idle.append(connection)
        self._kept += 1

    def take(self, careful: bool) -> Connection | None:
        """Return the most recently used connection, which the worker is the least likely to close.

        `careful`: the request cannot be repeated. Then each connection is checked first, because
        the loop may not have seen yet that the worker closed it.
        """
        while self._kept:
            self._kept -= 1
            connection: Connection = self._idle[self._kept]
            self._idle[self._kept] = None
            if not connection.open:
                self._ended -= 1
                continue
            if not careful or connection.quiet():
                return connection
            connection.close()
        return None

    def lost(self) -> None:
        """Count an idle connection that ended; remove all ended ones when they are the majority."""
        self._ended += 1
        if 2 * self._ended > self._kept:
            self._idle = [connection for connection in self.idle if connection.open]
            self._kept = len(self._idle)
            self._ended = 0

    def leave(self) -> None:
        """Close the idle connections: the worker left the table and gets no new request."""
        self.serving = False
        left, self._idle = self.idle, []
        self._kept = self._ended = 0
        for connection in left:
            connection.close()
