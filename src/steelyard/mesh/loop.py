"""Drives a desk or a crew with events from any thread, one batch after the other, and wakes it on
time.

The loop has a thread of its own, which takes in events that are `put`. `here` saves the switch to
that thread: the caller's own thread handles the events, and those that others bring meanwhile.
"""

from __future__ import annotations

import logging
import threading
import time
from collections import deque
from collections.abc import Callable, Sequence
from contextlib import suppress
from math import inf
from queue import Empty, SimpleQueue
from typing import Generic, TypeVar

log = logging.getLogger(__name__)

LONGEST = 3600.0  # seconds; a wait cannot be endless
TOGETHER = 256  # events that are handled in one batch, at most

E = TypeVar("E")


class Loop(Generic[E]):
    """Calls `handle` with the events that came in, and with none at the time that it asked for."""

    def __init__(self, name: str, handle: Callable[[Sequence[E], float], float]) -> None:
        self._handle = handle  # it returns when it wants to be called again
        self._inbox: deque[Sequence[E]] = deque()
        self._turn = threading.Lock()  # held by the thread that handles events
        self._due = inf
        self._asleep_until = inf
        self._bell: SimpleQueue[None] = SimpleQueue()  # wakes the loop's own thread
        self._closed = False
        self._thread = threading.Thread(target=self._run, name=name, daemon=True)

    def start(self) -> None:
        """Start the loop's own thread."""
        self._thread.start()

    def put(self, *happened: E) -> None:
        """Bring events to the loop's own thread; events of one call are handled together."""
        self._inbox.append(happened)
        self._bell.put(None)

    def here(self, *happened: E) -> None:
        """Bring events and handle them in the caller's thread, unless another thread is handling
        now.
        """
        if self._closed:
            return
        self._inbox.append(happened)
        self._take_in()
        if self._due < self._asleep_until:
            self._bell.put(None)

    def close(self, patience: float | None = None) -> None:
        """Stop. Events that were put before are still handled, and waited for."""
        self._closed = True
        self._bell.put(None)
        if self._thread.is_alive() and threading.current_thread() is not self._thread:
            self._thread.join(patience)

    def _run(self) -> None:
        while True:
            closed = self._closed  # read this first: events before `close` are still taken in
            self._take_in()
            if closed:
                return
            self._sleep()
            if self._due <= time.monotonic():
                with self._turn:
                    self._step()

    def _sleep(self) -> None:
        """Sleep until the bell rings, or `_due` has come.

        A thread that makes `_due` earlier sets it first and then looks at `_asleep_until`. Here it
        is the other way round, so that one of the two sees what the other did.
        """
        self._asleep_until = inf
        self._asleep_until = until = self._due
        with suppress(Empty):
            self._bell.get(timeout=max(0.0, min(LONGEST, until - time.monotonic())))

    def _take_in(self) -> None:
        """Drain the inbox. If another thread is draining it, return: that thread looks again before
        it stops.
        """
        while self._inbox and self._turn.acquire(blocking=False):
            try:
                self._step()
            finally:
                self._turn.release()

    def _step(self) -> None:
        happened: list[E] = []
        while self._inbox and len(happened) < TOGETHER:
            happened += self._inbox.popleft()
        try:
            self._due = self._handle(happened, time.monotonic())
        except Exception:
            # Not the events themselves, which may be large.
            kinds = ", ".join(sorted({type(one).__name__ for one in happened}))
            log.exception("a bug of steelyard's: the mesh could not handle %s", kinds)
            self._due = time.monotonic() + 1.0
