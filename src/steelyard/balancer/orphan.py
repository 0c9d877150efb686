"""Orphan: lets a balancer whose supervisor is gone continue, and wait for the next supervisor.

The end of the channel means that the supervisor is dead. From then on, the balancer gives its
listening sockets to any process of its own user that connects to the hand-over socket (handover).
The next generation of balancers serves from them, and this balancer is told to end as at a reload.
"""

from __future__ import annotations

import logging
import socket
from collections.abc import Callable, Sequence
from contextlib import suppress
from math import inf
from pathlib import Path
from typing import NamedTuple

from steelyard.balancer.io.loop import IN, Handler
from steelyard.balancer.plane import Plane
from steelyard.handover import give, listen_at

log = logging.getLogger(__name__)


class Will(NamedTuple):
    """The resources that a balancer needs to outlive its supervisor."""

    channel: socket.socket  # reaches its end when the supervisor dies
    path: Path  # the path of the hand-over socket
    orphaned: Callable[[], None]  # called when the supervisor is gone


class Orphan(Handler):
    """Watches the channel, from the moment the balancer begins to serve."""

    __slots__ = ("_plane", "_sockets", "_will")

    def __init__(self, plane: Plane, sockets: Sequence[socket.socket], will: Will) -> None:
        self._plane = plane
        self._sockets = sockets
        self._will = will
        self.deadline = inf
        will.channel.setblocking(False)
        plane.loop.add(will.channel.fileno(), self, IN)

    def on_event(self, mask: int) -> None:
        """Open the hand-over socket. Any event is the end of the channel, as the supervisor sends
        nothing more on it."""
        self.abort()
        self._will.orphaned()
        try:
            HandOver(self._plane, self._sockets, self._will.path)
        except OSError as error:
            log.error("the supervisor is gone, and no other one can take over: %s", error)
        else:
            log.warning("the supervisor is gone; clients are served on")

    def expire(self) -> None:
        """Do nothing: this handler has no deadline."""

    def abort(self) -> None:
        channel = self._will.channel
        self._plane.loop.drop(channel.fileno(), channel)


class HandOver(Handler):
    """The hand-over socket, from which the next supervisor gets the listening sockets."""

    __slots__ = ("_path", "_plane", "_sock", "_sockets")

    def __init__(self, plane: Plane, sockets: Sequence[socket.socket], path: Path) -> None:
        self._plane = plane
        self._sockets = sockets
        self._path = path
        self._sock = listen_at(path)
        self.deadline = inf
        plane.loop.add(self._sock.fileno(), self, IN)

    def on_event(self, mask: int) -> None:
        with suppress(OSError):  # the process that connected has gone again
            heir, _ = self._sock.accept()
            with heir:
                if not give(heir, self._open_sockets()):
                    log.warning("another user asked for the listening sockets, and got none")

    def expire(self) -> None:
        """Do nothing: this handler has no deadline."""

    def abort(self) -> None:
        with suppress(OSError):
            self._path.unlink()
        self._plane.loop.drop(self._sock.fileno(), self._sock)

    def _open_sockets(self) -> list[socket.socket]:
        """Return the open listening sockets, or none while this balancer is draining and closes
        them."""
        if self._plane.front.draining:
            return []
        return [sock for sock in self._sockets if sock.fileno() >= 0]
