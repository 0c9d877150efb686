"""Port: the gateway's address, and the sockets that listen on it.

There is one per process, and a socket is never given up while the address is served: one with
clients in its queue would lose them. When there are fewer processes than before, some listen on
two sockets. With sockets from systemd there are as many as it gave, and processes share them.
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
        self.asked = asked  # as configured: its port may be 0
        self.given = given  # by systemd, whose they are
        host, port = sockets[0].getsockname()[:2]
        self.address = Address(host if given else asked.host, port)
        self._listening = list(sockets) if given else []
        self._bound = [] if given else list(sockets)

    @classmethod
    def bind(cls, address: Address, processes: int, *, beside: Port | None = None) -> Port:
        """A port of our own; `beside` one of ours that may overlap with it."""
        if beside is None or beside.address.port != address.port:
            ensure_free(address, FLAG)
        return cls(address, bind_many(address, processes, FLAG), given=False)

    @classmethod
    def inherited(cls, asked: Address, sockets: Sequence[socket.socket], *, given: bool) -> Port:
        """The port of a supervisor that is gone: clients come there already."""
        port = cls(asked, sockets, given=given)
        port._listening, port._bound = list(sockets), []
        return port

    def serves(self, address: Address) -> bool:
        """Whether this is the port for what is configured."""
        return self.given or address in (self.asked, self.address)

    def shares(self, processes: int) -> list[list[int]]:
        """Which sockets each process listens on; missing ones are added."""
        missing = 0 if self.given else processes - len(self._sockets)
        if missing > 0:
            self._bound += bind_many(self.address, missing, FLAG)
        fds = [sock.fileno() for sock in self._sockets]
        if processes <= len(fds):
            return [fds[index::processes] for index in range(processes)]
        return [[fds[index % len(fds)]] for index in range(processes)]

    def open(self, backlog: int) -> None:
        """Let clients come."""
        self._listening, self._bound = self._sockets, []
        for sock in self._listening:
            if not self.given:
                open_up(sock, backlog)

    def forget_unopened(self) -> None:
        """Drop sockets that no client can have come to."""
        for sock in self._bound:
            sock.close()
        self._bound = []

    def shut(self) -> None:
        """Let nobody new in; who is there already will be served. What is systemd's stays open:
        there, clients wait for whoever is started next."""
        for sock in self._listening:
            if not self.given:
                with suppress(OSError):  # then those who come in the last moment are reset
                    shut(sock)

    def close(self) -> None:
        """Leave the sockets to the processes that still hold them."""
        for sock in self._sockets:
            sock.close()

    @property
    def _sockets(self) -> list[socket.socket]:
        return [*self._listening, *self._bound]
