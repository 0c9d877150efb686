"""Loop: an event loop in one thread, on one level-triggered epoll.

Registrations persist, so a small exchange costs four system calls: recv, send, recv, send. A time
limit is one number per handler, checked in a coarse sweep: no timer is ever created or cancelled.
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

# All handlers share one receive buffer. With a buffer per receive, glibc returned its memory to the
# kernel each time, which more than doubled the cost of 64 KiB answers. With 256 KiB, answers of
# 1 MiB cost a little more than half of what they cost with 64 KiB; 512 KiB gains nothing more.
RECEIVE = 256 * 1024


class Handler:
    """The receiver of the events of one file descriptor in the loop."""

    __slots__ = ("deadline",)

    deadline: float

    def on_event(self, mask: int) -> None:
        """Handle the events in `mask`, for which the file descriptor is ready."""
        raise NotImplementedError

    def expire(self) -> None:
        """Handle the deadline, which has come."""
        raise NotImplementedError

    def abort(self) -> None:
        """End this handler and everything that depends on it, in any state."""
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
        self._handlers: list[Handler | None] = []  # by file descriptor, a small number
        self._graveyard: list[Closeable] = []
        self._sweep_every = sweep_every
        self.buffer = bytearray(RECEIVE)
        self.view = memoryview(self.buffer)
        self.pipe = Pipe()
        self.now = monotonic()  # when the present round of events began
        self.running = True
        self.chore: Callable[[], None] | None = None  # called after every round

    def add(self, fd: int, handler: Handler, mask: int) -> None:
        """Watch a file descriptor."""
        missing = fd + 1 - len(self._handlers)
        if missing > 0:
            self._handlers += [None] * missing
        self._handlers[fd] = handler
        self._poller.add(fd, mask)

    def replace(self, fd: int, handler: Handler) -> None:
        """Replace the handler of a file descriptor; the events that it waits for stay."""
        self._handlers[fd] = handler

    def watch(self, fd: int, mask: int) -> None:
        """Change the events that a file descriptor waits for."""
        self._poller.change(fd, mask)

    def park(self, fd: int) -> None:
        """Stop all events of a file descriptor, even EPOLLERR and EPOLLHUP, which epoll always
        reports."""
        self._poller.remove(fd)

    def unpark(self, fd: int, mask: int) -> None:
        """Undo `park`."""
        self._poller.add(fd, mask)

    def drop(self, fd: int, sock: Closeable) -> None:
        """Forget a handler and close its socket.

        The socket is closed after the round. Until then, the kernel cannot give its number to a
        new socket, which would otherwise get the old socket's events of this round.
        """
        self._handlers[fd] = None
        self._graveyard.append(sock)

    def forget(self, fd: int) -> None:
        """Forget a handler whose file descriptor stays open."""
        self._handlers[fd] = None
        self._poller.remove(fd)

    def handlers(self) -> list[Handler]:
        """Return all handlers in the loop."""
        return [handler for handler in self._handlers if handler is not None]

    def taken(self, count: int) -> bytes:
        """Return a copy of the first `count` bytes in the buffer."""
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
        """Abort all handlers, and close the epoll and the pipe."""
        for handler in self.handlers():
            handler.abort()
        self._bury()
        self._poller.close()
        self.pipe.close()

    def _dispatch(self, count: int) -> None:
        poller = self._poller
        handler: Handler | None = None
        index = 0
        while index < count:  # a `try` has a cost: one covers all events up to an exception
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
        """Log a bug and end the connection that it occurred in, but not the process."""
        log.exception("a connection is dropped after an error of ours")
        if handler is not None:
            handler.abort()

    def _bury(self) -> None:
        for sock in self._graveyard:
            sock.close()
        self._graveyard.clear()


class Woken(Protocol):
    """The owner of a waker, which the waker calls."""

    def woken(self) -> None: ...

    def expired(self) -> None: ...


class Waker(Handler):
    """An eventfd in the loop, by which any thread can wake the owner, and the owner's deadline."""

    __slots__ = ("_fd", "_loop", "_owner")

    def __init__(self, loop: Loop, owner: Woken) -> None:
        self._loop = loop
        self._owner = owner
        self._fd = os.eventfd(0, os.EFD_NONBLOCK | os.EFD_CLOEXEC)
        self.deadline = inf
        loop.add(self._fd, self, IN)

    def wake(self) -> None:
        """Make the loop call the owner's `woken` soon; any thread may call this."""
        os.eventfd_write(self._fd, 1)

    def on_event(self, mask: int) -> None:
        os.eventfd_read(self._fd)
        self._owner.woken()

    def expire(self) -> None:
        self._owner.expired()

    def abort(self) -> None:
        """Leave the loop. The eventfd stays open, because another thread may still call `wake`."""
        self._loop.forget(self._fd)

    def __del__(self) -> None:
        os.close(self._fd)
