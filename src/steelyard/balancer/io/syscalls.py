"""System calls of the hot path: receive, send, epoll and the clock, on bare file descriptors.

This module is written twice: here with what Python has, and in `syscalls.pyx`
with the C functions themselves, for the compiled build. Both are held to the same tests.
"""

from __future__ import annotations

import contextlib
import errno
import fcntl
import os
import select
from time import monotonic, time
from typing import TypeAlias

Buffer: TypeAlias = bytes | bytearray | memoryview

__all__ = [
    "GONE",
    "NOTHING",
    "Pipe",
    "Poller",
    "is_quiet",
    "monotonic",
    "receive",
    "transmit",
    "transmit_both",
    "wall_second",
]

GONE = -1  # the peer is
NOTHING = -2  # a false alarm

BATCH = 512
PIPE = 1024 * 1024  # bytes, the most that anybody may ask for
UNABLE = (errno.EINVAL, errno.ENOSYS, errno.EPERM)  # splice(2) is not to be had
SPLICE = os.SPLICE_F_MOVE | os.SPLICE_F_NONBLOCK


def wall_second() -> int:
    """The second of the wall clock, since 1970."""
    return int(time())


def receive(fd: int, buffer: bytearray) -> int:
    """How many bytes are in the buffer now; 0: the peer has finished; or GONE, or NOTHING."""
    try:
        return os.readv(fd, (buffer,))
    except BlockingIOError:
        return NOTHING
    except OSError:
        return GONE


def is_quiet(fd: int) -> bool:
    """Whether the peer has neither sent anything nor closed."""
    poll = select.poll()
    poll.register(fd, select.POLLIN)
    return not poll.poll(0)


def transmit(fd: int, data: Buffer) -> int:
    """How many bytes the kernel took, perhaps none; or GONE."""
    try:
        return os.write(fd, data)
    except BlockingIOError:
        return 0
    except OSError:
        return GONE


def transmit_both(fd: int, first: bytes, second: Buffer) -> int:
    """As `transmit`, one after the other."""
    try:
        return os.writev(fd, (first, second))
    except BlockingIOError:
        return 0
    except OSError:
        return GONE


class Pipe:
    """What large bodies go through from socket to socket, by splice(2): nobody copies a byte.

    Between two uses it is empty.
    """

    __slots__ = ("_in", "_out", "works")

    def __init__(self) -> None:
        self.works = True  # until a kernel, or what stands in for one, says no
        self._out, self._in = os.pipe2(os.O_NONBLOCK | os.O_CLOEXEC)
        with contextlib.suppress(OSError):  # a user has so many pages; then it is a small one
            fcntl.fcntl(self._in, fcntl.F_SETPIPE_SZ, PIPE)

    def fill(self, fd: int, most: int) -> int:
        """As `receive`, but the bytes are in the pipe, and are at most so many."""
        try:
            return os.splice(fd, self._in, most, flags=SPLICE)
        except BlockingIOError:
            return NOTHING
        except OSError as error:
            self.works = error.errno not in UNABLE
            return GONE if self.works else NOTHING

    def pour(self, fd: int, count: int) -> int:
        """As `transmit`, of what is in the pipe."""
        try:
            return os.splice(self._out, fd, count, flags=SPLICE)
        except BlockingIOError:
            return 0
        except OSError:
            return GONE

    def close(self) -> None:
        os.close(self._in)
        os.close(self._out)

    def spill(self, buffer: bytearray) -> int:
        """Empty the pipe into a buffer that has room for it; how many bytes there are."""
        return max(0, receive(self._out, buffer))


class Poller:
    """A level-triggered epoll."""

    __slots__ = ("_epoll", "_events")

    def __init__(self) -> None:
        self._epoll = select.epoll()
        self._events: list[tuple[int, int]] = []

    def add(self, fd: int, mask: int) -> None:
        """Watch a file descriptor."""
        self._epoll.register(fd, mask)

    def change(self, fd: int, mask: int) -> None:
        """Wait for other events of it."""
        self._epoll.modify(fd, mask)

    def remove(self, fd: int) -> None:
        """Watch it no more."""
        self._epoll.unregister(fd)

    def wait(self, seconds: float) -> int:
        """How many file descriptors have events, after at most so long."""
        self._events = self._epoll.poll(seconds, BATCH)
        return len(self._events)

    def fd(self, index: int) -> int:
        """The file descriptor of one event of the last `wait`."""
        return self._events[index][0]

    def mask(self, index: int) -> int:
        """What happened to it."""
        return self._events[index][1]

    def close(self) -> None:
        self._epoll.close()
