"""Port: the gateway's address, and the sockets that listen on it.

There is one socket for each process. A socket is never closed while the address is served, because
clients in its accept queue would be lost. If there are fewer processes than before, some of them
listen on two sockets. Sockets from systemd are as many as it gave, and processes share them.
"""

from __future__ import annotations

import socket
from collections.abc import Sequence
from contextlib import suppress

from steelyard.config.values import Address
from steelyard.door import shut
from steelyard.sockets import bind_many, ensure_free, open_up

FLAG = "--listen"


class Port:
    """The sockets of one address."""

    def __init__(self, asked: Address, sockets: Sequence[socket.socket], *, given: bool) -> None:
        self.asked = asked  # the configured address, whose port may be 0
        self.given = given  # the sockets belong to systemd
        host, port = sockets[0].getsockname()[:2]
        self.address = Address(host if given else asked.host, port)
        self._listening = list(sockets) if given else []
        self._bound = [] if given else list(sockets)

    @classmethod
    def bind(cls, address: Address, processes: int, *, beside: Port | None = None) -> Port:
        """Bind new sockets; `beside` is the present port, whose address may overlap."""
        if beside is None or beside.address.port != address.port:
            ensure_free(address, FLAG)
        return cls(address, bind_many(address, processes, FLAG), given=False)

    @classmethod
    def inherited(cls, asked: Address, sockets: Sequence[socket.socket], *, given: bool) -> Port:
        """The port of a supervisor that is gone; its sockets are listening already."""
        port = cls(asked, sockets, given=given)
        port._listening, port._bound = list(sockets), []
        return port

    def serves(self, address: Address) -> bool:
        """Whether this is the port for the configured address."""
        return self.given or address in (self.asked, self.address)

    def shares(self, processes: int) -> list[list[int]]:
        """The sockets that each process listens on; missing sockets are added."""
        missing = 0 if self.given else processes - len(self._sockets)
        if missing > 0:
            self._bound += bind_many(self.address, missing, FLAG)
        fds = [sock.fileno() for sock in self._sockets]
        if processes <= len(fds):
            return [fds[index::processes] for index in range(processes)]
        return [[fds[index % len(fds)]] for index in range(processes)]

    def open(self, backlog: int) -> None:
        """Listen on all sockets."""
        self._listening, self._bound = self._sockets, []
        for sock in self._listening:
            if not self.given:
                open_up(sock, backlog)

    def forget_unopened(self) -> None:
        """Close the sockets that never listened, and so have no client."""
        for sock in self._bound:
            sock.close()
        self._bound = []

    def shut(self) -> None:
        """Accept no new clients; those in the accept queue will be served.

        Sockets of systemd stay open: clients wait there for the next process to be started.
        """
        for sock in self._listening:
            if not self.given:
                with suppress(OSError):  # clients that connect at the last moment are reset then
                    shut(sock)

    def close(self) -> None:
        """Close our copies of the sockets; processes that hold others can go on using them."""
        for sock in self._sockets:
            sock.close()

    @property
    def _sockets(self) -> list[socket.socket]:
        return [*self._listening, *self._bound]
