"""Connections that notice in time that they are cut.

Zenoh closes links whose lease is over one after the other, each with SO_LINGER at ten seconds. If a
host with several links cannot be reached any more, the last of them would be closed after half a
minute, and only then is anybody told. Zenoh has no setting for this, but the sockets are in our
process. With TCP_USER_TIMEOUT the kernel itself gives a connection up when data is not acknowledged
for so long, and then there is nothing left to linger for. Keep-alive probes make the kernel ask
each second by itself, which costs no process anything, however long the lease.
"""

from __future__ import annotations

import os
import socket
from collections.abc import Callable, Container
from contextlib import suppress

import zenoh

from steelyard.mesh.transport.endpoints import parse

GIVE_UP = 1500  # ms
OPTIONS = {
    socket.TCP_USER_TIMEOUT: GIVE_UP,
    socket.TCP_KEEPIDLE: 1,  # seconds
    socket.TCP_KEEPINTVL: 1,
}


Ends = tuple[tuple[str, int], tuple[str, int]]


class Hasten:
    """Sets the options of a session's sockets as its links come up."""

    def __init__(self, session: zenoh.Session) -> None:
        self._done: dict[int, Ends] = {}  # by descriptor; a new link need not look at these again
        handler = zenoh.handlers.Callback(self._see, indirect=False)
        self._listener = session.info.declare_link_events_listener(handler, history=True)

    def _see(self, event: zenoh.LinkEvent) -> None:
        ends = ends_of(event.link)
        if event.kind == zenoh.SampleKind.PUT:
            found = hasten(ends, self._done) or hasten(ends)  # a descriptor may be reused at once
            self._done.update(dict.fromkeys(found, ends))
            return
        for fd in [fd for fd, done in self._done.copy().items() if done == ends]:
            self._done.pop(fd, None)


def ends_of(link: zenoh.Link) -> Ends:
    """The two addresses of a link, ours first."""
    here, there = parse(link.src, "tcp"), parse(link.dst, "tcp")
    return ((here.host, here.port), (there.host, there.port))


def hasten(ends: Ends, but: Container[int] = ()) -> list[int]:
    """Set the options on this process's connections between these addresses; return descriptors."""
    return _each(ends, _set_options, but)


def cut(ends: Ends) -> list[int]:
    """End this process's connections between these addresses, so that Zenoh sees them closed."""
    return _each(ends, lambda one: one.shutdown(socket.SHUT_RDWR))


def _each(ends: Ends, do: Callable[[socket.socket], None], but: Container[int] = ()) -> list[int]:
    fds = [int(fd) for fd in os.listdir("/proc/self/fd")]
    return [fd for fd in fds if fd not in but and _do(fd, ends, do)]


def _do(fd: int, ends: Ends, do: Callable[[socket.socket], None]) -> bool:
    with suppress(OSError, ValueError):
        if not os.readlink(f"/proc/self/fd/{fd}").startswith("socket:"):
            return False
        with socket.socket(fileno=os.dup(fd)) as one:
            if (one.getsockname()[:2], one.getpeername()[:2]) == ends:
                do(one)
                return True
    return False


def _set_options(one: socket.socket) -> None:
    one.setsockopt(socket.SOL_SOCKET, socket.SO_KEEPALIVE, 1)
    for option, value in OPTIONS.items():
        one.setsockopt(socket.IPPROTO_TCP, option, value)
