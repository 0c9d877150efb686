"""System calls of the hot path: receive, send, epoll and the clock, on bare file descriptors.

This is the one module that is written twice: here with what Python has, and in `syscalls.pyx`
with the C functions themselves, for the compiled build. Both are held to the same tests.
"""

from __future__ import annotations

import os
import select
from time import monotonic
from typing import TypeAlias

Buffer: TypeAlias = bytes | bytearray | memoryview

__all__ = [
    "GONE",
    "NOTHING",
    "Poller",
    "is_quiet",
    "monotonic",
    "receive",
    "transmit",
    "transmit_both",
]

GONE = -1  # the peer is
NOTHING = -2  # a false alarm

BATCH = 512


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
