"""Listener: accepts clients from a listening socket that this process inherited."""

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

# Errors of accept that concern only one connection; the next connection may be fine.
_PASSING = frozenset({errno.ECONNABORTED, errno.EPROTO, errno.EPERM, errno.EINTR})
# Bytes that the kernel buffers for a client before the client's window allows them to be sent. By
# default the kernel fills the send buffer, up to 4 MiB: a thousand slow readers would use up the
# TCP memory of the whole machine. The limit does not slow fast readers down. Accepted sockets
# inherit it.
UNSENT = 128 * 1024


class Listener(Handler):
    """The handler of a listening socket. Other processes hold the same socket, so the listener
    closes it and never shuts it down."""

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
        """Accept the clients in the kernel's queue, as long as there is room."""
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
        """Accept clients again, unless the balancer is stopping: there is room."""
        if not self._accepting and not self._front.draining:
            self._accepting = True
            self.deadline = inf
            self._front.loop.unpark(self._sock.fileno(), IN)

    def leave(self) -> None:
        """Accept the clients in the kernel's queue, then close the socket. When all processes that
        hold the socket have closed it, the kernel refuses new clients instead of queueing them."""
        if self._accepting:
            self._take()
        self._pause()
        self._front.loop.drop(self._sock.fileno(), self._sock)

    def _admit(self, sock: socket.socket, peer: str) -> None:
        """Create the client's connection. An error of one client must not end the listener."""
        try:
            sock.setblocking(False)
            sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            self._front.joined(Http1Client(self._front, sock, peer))
        except OSError as error:
            log.warning("a client was lost as it came: %s", error)
            sock.close()

    def _out_of(self, error: OSError) -> None:
        """Close clients that can be spared: accept failed for want of descriptors or memory."""
        if not self._warned:
            self._warned = True
            log.warning("cannot accept clients for now: %s", error)
        if not self._shed.make_room():
            self._look_away()

    def _look_away(self) -> None:
        """Leave clients in the kernel's queue for a while. The socket leaves epoll meanwhile:
        level-triggered epoll would report it over and over."""
        self._pause()
        self.deadline = self._front.loop.now + BREATH

    def _pause(self) -> None:
        if self._accepting:
            self._accepting = False
            self._front.loop.park(self._sock.fileno())
