"""Messages between a pool and its children: a head, and a body of any size.

The sockets keep messages apart (SOCK_SEQPACKET): one is received whole or not at all, by one
process only. A body that would fill the socket goes as a file in memory whose descriptor is sent.
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
INLINE = 32 * 1024  # bodies up to here are in the message; a socket holds some 200 KiB
HEAD = 1024  # bytes, at most
_FDS = socket.CMSG_SPACE(2 * array.array("i").itemsize)
_CLOEXEC = int(socket.MSG_CMSG_CLOEXEC)  # as an enum it is slow to combine
_TORN = int(socket.MSG_CTRUNC)
NOW = int(socket.MSG_DONTWAIT)
# What a process or the machine has too little of, for a moment.
SHORTAGES = frozenset({errno.ETOOMANYREFS, errno.EMFILE, errno.ENFILE, errno.ENOMEM, errno.ENOBUFS})


class Parcel(NamedTuple):
    """A message as received; `message` is good until the next one is."""

    message: memoryview
    fd: int | None  # of the body, when it is not in the message; the receiver's to close
    torn: bool = False  # it had a body, and we had no descriptor left for it


def send(link: socket.socket, head: bytes, body: Sequence[Piece]) -> None:
    """Send one; BlockingIOError when the socket does not block and is full."""
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
    """Takes messages from sockets, into one buffer."""

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
    """All of a body that came as a file, which is closed."""
    with os.fdopen(fd, "rb", buffering=0) as file:
        file.seek(0)
        return file.readall()


def look_at(fd: int) -> memoryview:
    """A body that came as a file, without a copy of it; the descriptor is closed."""
    try:
        return memoryview(mmap.mmap(fd, 0, access=mmap.ACCESS_READ))
    finally:
        os.close(fd)
