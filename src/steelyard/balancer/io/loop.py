"""Loop: one thread, one epoll, level-triggered.

Registrations persist, so a small exchange costs four system calls: recv, send, recv, send. Time
limits are one number per stream, looked at in a coarse sweep: no timer is ever made or cancelled.
"""

from __future__ import annotations

import logging
import os
import select
from collections.abc import Callable
from math import inf
from typing import Protocol

from steelyard.balancer.io.octets import front
from steelyard.balancer.io.syscalls import Pipe, Poller, monotonic

log = logging.getLogger(__name__)

IN = select.EPOLLIN
OUT = select.EPOLLOUT
BROKEN = select.EPOLLERR | select.EPOLLHUP

# One receive buffer for all: glibc would return a buffer per receive to the kernel each time,
# which more than doubled the cost of 64 KiB answers. With 256 KiB, 1 MiB answers cost a little more
# than half of what they do with 64 KiB; half a MiB gains nothing more.
RECEIVE = 256 * 1024


class Handler:
    """Something with a file descriptor in the loop."""

    __slots__ = ("deadline",)

    deadline: float

    def on_event(self, mask: int) -> None:
        """The file descriptor is ready for these."""
        raise NotImplementedError

    def expire(self) -> None:
        """The deadline has come."""
        raise NotImplementedError

    def abort(self) -> None:
        """End it and all that hangs on it, in whatever state it is."""
        raise NotImplementedError


class Closeable(Protocol):
    def close(self) -> None: ...


class Loop:
    """Waits for sockets and calls their handlers."""

    __slots__ = (
        "_graveyard",
        "_handlers",
        "_poller",
        "_sweep_every",
        "buffer",
        "chore",
        "now",
        "pipe",
        "running",
        "view",
    )

    def __init__(self, sweep_every: float) -> None:
        self._poller = Poller()
        self._handlers: list[Handler | None] = []  # by file descriptor, which are small numbers
        self._graveyard: list[Closeable] = []
        self._sweep_every = sweep_every
        self.buffer = bytearray(RECEIVE)
        self.view = memoryview(self.buffer)
        self.pipe = Pipe()
        self.now = monotonic()  # when the present round of events began
        self.running = True
        self.chore: Callable[[], None] | None = None  # to be done after every round

    def add(self, fd: int, handler: Handler, mask: int) -> None:
        """Watch a file descriptor."""
        missing = fd + 1 - len(self._handlers)
        if missing > 0:
            self._handlers += [None] * missing
        self._handlers[fd] = handler
        self._poller.add(fd, mask)

    def replace(self, fd: int, handler: Handler) -> None:
        """Have another handler take over a file descriptor; what is waited for stays."""
        self._handlers[fd] = handler

    def watch(self, fd: int, mask: int) -> None:
        """Change what is waited for."""
        self._poller.change(fd, mask)

    def park(self, fd: int) -> None:
        """Stop all events, even a broken connection's, which epoll reports unasked."""
        self._poller.remove(fd)

    def unpark(self, fd: int, mask: int) -> None:
        """Undo `park`."""
        self._poller.add(fd, mask)

    def drop(self, fd: int, sock: Closeable) -> None:
        """Forget a handler and close its socket.

        The socket is closed after the round: until then the kernel cannot give its number to a
        new one, which an event of this round would then be taken for.
        """
        self._handlers[fd] = None
        self._graveyard.append(sock)

    def forget(self, fd: int) -> None:
        """Forget a handler whose file descriptor stays open."""
        self._handlers[fd] = None
        self._poller.remove(fd)

    def handlers(self) -> list[Handler]:
        """All that is in the loop now."""
        return [handler for handler in self._handlers if handler is not None]

    def taken(self, count: int) -> bytes:
        """A copy of the first bytes in the buffer."""
        return front(self.buffer, count)

    def run(self) -> None:
        """Serve until `running` is False."""
        next_sweep = monotonic() + self._sweep_every
        while self.running:
            count = self._poller.wait(max(0.0, next_sweep - monotonic()))
            self.now = monotonic()
            self._dispatch(count)
            if self.now >= next_sweep:
                self._sweep()
                next_sweep = self.now + self._sweep_every
            if self.chore is not None:
                self._do(self.chore)
            if self._graveyard:
                self._bury()

    def close(self) -> None:
        """End every stream and the epoll itself."""
        for handler in self.handlers():
            handler.abort()
        self._bury()
        self._poller.close()
        self.pipe.close()

    def _dispatch(self, count: int) -> None:
        poller = self._poller
        handler: Handler | None = None
        index = 0
        while index < count:  # `try` costs something: one for all events, and one after a mishap
            try:
                while index < count:
                    at, index = index, index + 1
                    handler = self._handlers[poller.fd(at)]
                    if handler is not None:
                        handler.on_event(poller.mask(at))
            except Exception:
                self._mishap(handler)

    def _sweep(self) -> None:
        now = self.now
        for handler in self.handlers():
            if handler.deadline <= now:
                handler.deadline = inf
                try:
                    handler.expire()
                except Exception:
                    self._mishap(handler)

    def _do(self, chore: Callable[[], None]) -> None:
        try:
            chore()
        except Exception:
            log.exception("an error of ours, after a round")

    def _mishap(self, handler: Handler | None) -> None:
        """A bug of ours costs one connection, not the process."""
        log.exception("a connection is dropped after an error of ours")
        if handler is not None:
            handler.abort()

    def _bury(self) -> None:
        for sock in self._graveyard:
            sock.close()
        self._graveyard.clear()


class Woken(Protocol):
    """Who a waker calls."""

    def woken(self) -> None: ...

    def expired(self) -> None: ...


class Waker(Handler):
    """An eventfd in the loop, which any thread may ring, and a deadline of its owner's."""

    __slots__ = ("_fd", "_loop", "_owner")

    def __init__(self, loop: Loop, owner: Woken) -> None:
        self._loop = loop
        self._owner = owner
        self._fd = os.eventfd(0, os.EFD_NONBLOCK | os.EFD_CLOEXEC)
        self.deadline = inf
        loop.add(self._fd, self, IN)

    def wake(self) -> None:
        """Have the loop call the owner soon."""
        os.eventfd_write(self._fd, 1)

    def on_event(self, mask: int) -> None:
        os.eventfd_read(self._fd)
        self._owner.woken()

    def expire(self) -> None:
        self._owner.expired()

    def abort(self) -> None:
        """Leave the loop; `wake` stays harmless, for another thread may be about to call it."""
        self._loop.forget(self._fd)

    def __del__(self) -> None:
        os.close(self._fd)
