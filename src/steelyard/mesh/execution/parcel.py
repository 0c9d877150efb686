"""Messages between a pool and its children: a head, and a body of any size.

The sockets keep messages apart (SOCK_SEQPACKET): a message is received whole or not at all, by one
process only. A body that would fill the socket goes into a file in memory, whose descriptor is
sent.
"""

from __future__ import annotations

import array
import errno
import mmap
import os
import socket
from collections.abc import Sequence
from typing import NamedTuple

Piece = bytes | memoryview
INLINE = 32 * 1024  # bytes of a body that fit into the message; a socket holds some 200 KiB
HEAD = 1024  # bytes of a head at most
_FDS = socket.CMSG_SPACE(2 * array.array("i").itemsize)
_CLOEXEC = int(socket.MSG_CMSG_CLOEXEC)  # the enum itself is slow to combine
_TORN = int(socket.MSG_CTRUNC)
NOW = int(socket.MSG_DONTWAIT)
# Errors for a temporary shortage in the process or the machine.
SHORTAGES = frozenset({errno.ETOOMANYREFS, errno.EMFILE, errno.ENFILE, errno.ENOMEM, errno.ENOBUFS})


class Parcel(NamedTuple):
    """A received message; `message` is valid until the next one is received."""

    message: memoryview
    fd: int | None  # of the body, if it is not in the message; the receiver closes it
    torn: bool = False  # the body is lost, as we had no descriptor left for it


def send(link: socket.socket, head: bytes, body: Sequence[Piece]) -> None:
    """Send a message; raise BlockingIOError if the socket does not block and is full."""
    size = sum(len(piece) for piece in body)
    if size <= INLINE:
        link.sendmsg([head, *body])
        return
    fd = os.memfd_create("steelyard-body")
    try:
        for piece in body:
            _write(fd, piece)
        socket.send_fds(link, [head], [fd])
    finally:
        os.close(fd)


def _write(fd: int, piece: Piece) -> None:
    rest = memoryview(piece)
    while rest:
        rest = rest[os.write(fd, rest) :]


class Receiver:
    """Receives messages from sockets, into one buffer."""

    def __init__(self) -> None:
        self._buffer = bytearray(HEAD + INLINE)
        self._view = memoryview(self._buffer)

    def receive(self, link: socket.socket, flags: int = 0) -> Parcel | None:
        """The next message; None at the end of the stream."""
        size, extra, told, _ = link.recvmsg_into([self._buffer], _FDS, flags | _CLOEXEC)
        if not size:
            return None
        fd = None
        if extra:
            fds = array.array("i")
            fds.frombytes(extra[0][2][: fds.itemsize])
            fd = fds[0]
        return Parcel(self._view[:size], fd, bool(told & _TORN))


def take(fd: int) -> bytes:
    """Read a body that came as a file, and close the file."""
    with os.fdopen(fd, "rb", buffering=0) as file:
        file.seek(0)
        return file.readall()


def look_at(fd: int) -> memoryview:
    """Map a body that came as a file, without copying it; close the descriptor."""
    try:
        return memoryview(mmap.mmap(fd, 0, access=mmap.ACCESS_READ))
    finally:
        os.close(fd)
