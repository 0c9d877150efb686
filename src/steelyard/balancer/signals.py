"""Signals as events of the loop.

SIGTERM, SIGINT    stop, soon; a second one: now
SIGUSR2            others serve the port: end, without hurry
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
    """A pipe that the interpreter writes signal numbers to.

    A handler in Python alone would not do: it runs between two instructions, and a signal that
    comes just before the loop starts to wait would be seen only after the wait.
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
        """It waits for ever."""

    def abort(self) -> None:
        signal.set_wakeup_fd(-1)
        self._plane.loop.drop(self._read, self)

    def close(self) -> None:
        os.close(self._read)
        os.close(self._write)


def _ignore(number: int, frame: FrameType | None) -> None:
    """The pipe has it already."""
