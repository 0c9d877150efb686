"""Listener: takes clients from a listening socket that this process was given."""

from __future__ import annotations

import errno
import logging
import socket
from math import inf

from steelyard.balancer.downstream.front import Front
from steelyard.balancer.downstream.http1 import Http1Client
from steelyard.balancer.downstream.shedding import BREATH, Shedding
from steelyard.balancer.io.loop import IN, Handler

log = logging.getLogger(__name__)

# The connection that failed is gone; the next one may be fine.
_PASSING = frozenset({errno.ECONNABORTED, errno.EPROTO, errno.EPERM, errno.EINTR})
# What the kernel takes for a client before the client's window allows it to be sent. By default it
# is all that the send buffer holds, up to 4 MiB: a thousand slow readers would use up the memory of
# all TCP connections of the machine. A fast reader does not notice. Accepted sockets inherit it.
UNSENT = 128 * 1024


class Listener(Handler):
    """Our share of the port. Others hold the same socket, so it is closed, never shut down."""

    __slots__ = ("_accepting", "_front", "_shed", "_sock", "_warned")

    def __init__(self, front: Front, sock: socket.socket) -> None:
        sock.setblocking(False)
        sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NOTSENT_LOWAT, UNSENT)
        self._front = front
        self._shed = Shedding(front)
        self._sock = sock
        self._accepting = True
        self._warned = False
        self.deadline = inf
        front.loop.add(sock.fileno(), self, IN)
        front.entrances.append(self)

    def on_event(self, mask: int) -> None:
        front = self._front
        if len(front.clients) >= front.settings.connections and not self._shed.make_room():
            self._look_away()
        else:
            self._take()

    def _take(self) -> None:
        """Accept the clients that wait, as long as there is room."""
        front = self._front
        while len(front.clients) < front.settings.connections:
            try:
                sock, address = self._sock.accept()
            except BlockingIOError:
                return
            except OSError as error:
                if error.errno in _PASSING:
                    continue
                self._out_of(error)
                return
            self._admit(sock, address[0])

    def expire(self) -> None:
        self.resume()

    def abort(self) -> None:
        self._front.loop.drop(self._sock.fileno(), self._sock)

    def resume(self) -> None:
        """There is room again."""
        if not self._accepting and not self._front.draining:
            self._accepting = True
            self.deadline = inf
            self._front.loop.unpark(self._sock.fileno(), IN)

    def leave(self) -> None:
        """Accept the clients that wait already, then no more. When all processes that hold the
        socket have left it, the kernel refuses the next client instead of letting it wait."""
        if self._accepting:
            self._take()
        self._pause()
        self._front.loop.drop(self._sock.fileno(), self._sock)

    def _admit(self, sock: socket.socket, peer: str) -> None:
        """A client that cannot be taken in must not take the listener down with it."""
        try:
            sock.setblocking(False)
            sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            self._front.joined(Http1Client(self._front, sock, peer))
        except OSError as error:
            log.warning("a client was lost as it came: %s", error)
            sock.close()

    def _out_of(self, error: OSError) -> None:
        """No file descriptor or memory."""
        if not self._warned:
            self._warned = True
            log.warning("cannot accept clients for now: %s", error)
        if not self._shed.make_room():
            self._look_away()

    def _look_away(self) -> None:
        """Level-triggered epoll would spin: leave clients waiting a while."""
        self._pause()
        self.deadline = self._front.loop.now + BREATH

    def _pause(self) -> None:
        if self._accepting:
            self._accepting = False
            self._front.loop.park(self._sock.fileno())
