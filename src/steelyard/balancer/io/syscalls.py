"""System calls of the hot path: receive, send, epoll and the clock, on bare file descriptors.

This module exists twice: here with Python's standard library, and in `syscalls.pyx` with the C
functions, for the compiled build. The same tests check both.
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

GONE = -1  # the connection failed: the peer is gone
NOTHING = -2  # nothing to read now

BATCH = 512
PIPE = 1024 * 1024  # bytes; by default the kernel allows users no larger pipe
UNABLE = (errno.EINVAL, errno.ENOSYS, errno.EPERM)  # splice(2) is not available
SPLICE = os.SPLICE_F_MOVE | os.SPLICE_F_NONBLOCK


def wall_second() -> int:
    """Return the whole seconds of the wall clock since 1970."""
    return int(time())


def receive(fd: int, buffer: bytearray) -> int:
    """Receive into the buffer; return the number of bytes, 0 at the end of the stream, GONE or
    NOTHING."""
    try:
        return os.readv(fd, (buffer,))
    except BlockingIOError:
        return NOTHING
    except OSError:
        return GONE


def is_quiet(fd: int) -> bool:
    """Whether there is neither a byte to read nor an end or an error of the connection."""
    poll = select.poll()
    poll.register(fd, select.POLLIN)
    return not poll.poll(0)


def transmit(fd: int, data: Buffer) -> int:
    """Send data; return the number of bytes that the kernel took, perhaps 0, or GONE."""
    try:
        return os.write(fd, data)
    except BlockingIOError:
        return 0
    except OSError:
        return GONE


def transmit_both(fd: int, first: bytes, second: Buffer) -> int:
    """Send two pieces of data with one system call; return the same as `transmit`."""
    try:
        return os.writev(fd, (first, second))
    except BlockingIOError:
        return 0
    except OSError:
        return GONE


class Pipe:
    """A kernel pipe that large bodies go through from socket to socket, by splice(2), without a
    copy in our memory.

    Between two uses, the pipe is empty.
    """

    __slots__ = ("_in", "_out", "works")

    def __init__(self) -> None:
        self.works = True  # until splice(2) fails as unavailable, as in a sandbox
        self._out, self._in = os.pipe2(os.O_NONBLOCK | os.O_CLOEXEC)
        with contextlib.suppress(OSError):  # over the user's quota, the pipe stays small
            fcntl.fcntl(self._in, fcntl.F_SETPIPE_SZ, PIPE)

    def fill(self, fd: int, most: int) -> int:
        """Receive at most `most` bytes into the pipe; return the same as `receive`."""
        try:
            return os.splice(fd, self._in, most, flags=SPLICE)
        except BlockingIOError:
            return NOTHING
        except OSError as error:
            self.works = error.errno not in UNABLE
            return GONE if self.works else NOTHING

    def pour(self, fd: int, count: int) -> int:
        """Send `count` bytes from the pipe; return the same as `transmit`."""
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
        """Empty the pipe into a buffer that is large enough; return the number of bytes."""
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
        """Change the events that a file descriptor waits for."""
        self._epoll.modify(fd, mask)

    def remove(self, fd: int) -> None:
        """Stop watching a file descriptor."""
        self._epoll.unregister(fd)

    def wait(self, seconds: float) -> int:
        """Wait for events for at most `seconds`; return how many file descriptors have some."""
        self._events = self._epoll.poll(seconds, BATCH)
        return len(self._events)

    def fd(self, index: int) -> int:
        """Return the file descriptor of one event of the last `wait`."""
        return self._events[index][0]

    def mask(self, index: int) -> int:
        """Return the mask of one event of the last `wait`."""
        return self._events[index][1]

    def close(self) -> None:
        self._epoll.close()
