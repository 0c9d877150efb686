"""Worker: where requests can go, what it has to do for us, and our idle connections to it."""

from __future__ import annotations

import socket
from typing import Any, TypeAlias

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

    Made by the control thread; from then on idle connections and `serving` belong to the data
    thread.
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
        self.guard: Guard | None = None  # None: whoever listens there is the worker
        self.tally = Member(bell, self)
        self.record = Record()
        # A stack whose free places hold None. It does not shrink: a list that loses and gets back
        # its only element with every request is allocated anew each time.
        self._idle: list[Any] = []
        self._kept = 0  # idle connections on the stack
        self._ended = 0  # how many of them have ended since
        self.serving = False  # in the ring now

    def __repr__(self) -> str:
        return f"<Worker {self.name} at {self.address[0]}:{self.address[1]}>"

    @property
    def idle(self) -> list[Connection]:
        """The idle connections, the one used last at the end."""
        return self._idle[: self._kept]

    def keep(self, connection: Connection) -> None:
        """Keep a connection for the next request."""
        if self._kept < len(self._idle):
            self._idle[self._kept] = connection
        else:
            self._idle.append(connection)
        self._kept += 1

    def take(self, careful: bool) -> Connection | None:
        """The connection used last, which is the least likely to be closed by the worker.

        A `careful` taker cannot repeat its request: each connection is looked at first, because
        the loop may not have come to the event yet that says it is closed.
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
        """An idle connection ended; ended ones are swept out when they are most of the stack."""
        self._ended += 1
        if 2 * self._ended > self._kept:
            self._idle = [connection for connection in self.idle if connection.open]
            self._kept = len(self._idle)
            self._ended = 0

    def leave(self) -> None:
        """Out of the ring: no new request goes there, so idle connections are of no use."""
        self.serving = False
        left, self._idle = self.idle, []
        self._kept = self._ended = 0
        for connection in left:
            connection.close()
