"""Signals: delivers signals as events of the loop.

SIGTERM, SIGINT    stop when open exchanges have ended; a second signal: stop at once
SIGUSR2            stop when all clients have left, as other processes serve the port
SIGUSR1            reopen the access log
"""

from __future__ import annotations

import os
import signal
from math import inf
from types import FrameType

from steelyard.balancer.io.loop import IN, Handler
from steelyard.balancer.plane import Plane

STOP = (signal.SIGTERM, signal.SIGINT)


class Signals(Handler):
    """The handler of a pipe that the interpreter writes signal numbers to.

    A signal handler in Python would not suffice: the interpreter runs it between two instructions,
    so a signal that comes just before the loop starts to wait would be handled only after the wait.
    """

    __slots__ = ("_plane", "_read", "_write")

    def __init__(self, plane: Plane) -> None:
        self._plane = plane
        self._read, self._write = os.pipe2(os.O_NONBLOCK | os.O_CLOEXEC)
        self.deadline = inf
        plane.loop.add(self._read, self, IN)
        signal.set_wakeup_fd(self._write, warn_on_full_buffer=False)
        for number in (*STOP, signal.SIGUSR2, signal.SIGUSR1):
            signal.signal(number, _ignore)

    def on_event(self, mask: int) -> None:
        for number in os.read(self._read, 64):
            if number in STOP:
                self._plane.stop()
            elif number == signal.SIGUSR2:
                self._plane.replace()
            elif number == signal.SIGUSR1 and self._plane.front.access_log is not None:
                self._plane.front.access_log.reopen = True

    def expire(self) -> None:
        """Do nothing: this handler has no deadline."""

    def abort(self) -> None:
        signal.set_wakeup_fd(-1)
        self._plane.loop.drop(self._read, self)

    def close(self) -> None:
        os.close(self._read)
        os.close(self._write)


def _ignore(number: int, frame: FrameType | None) -> None:
    """Do nothing: the interpreter has written the number to the pipe already."""
