"""One thread that drives a desk or a crew: events in, from any thread; what is due, on time."""

from __future__ import annotations

import logging
import threading
import time
from collections.abc import Callable, Sequence
from math import inf
from queue import Empty, SimpleQueue
from typing import Generic, TypeVar

log = logging.getLogger(__name__)

LONGEST = 3600.0  # seconds; a lock cannot wait for ever
TOGETHER = 256  # events that are taken in at once

E = TypeVar("E")


class Loop(Generic[E]):
    """Calls `handle` with what came in, and with nothing when it is as late as that wanted."""

    def __init__(self, name: str, handle: Callable[[Sequence[E], float], float]) -> None:
        self._handle = handle  # returns when it wants to be called again
        self._inbox: SimpleQueue[E | None] = SimpleQueue()
        self._closed = False
        self._thread = threading.Thread(target=self._run, name=name, daemon=True)

    def start(self) -> None:
        """Begin."""
        self._thread.start()

    def put(self, event: E) -> None:
        """Something happened."""
        self._inbox.put(event)

    def close(self) -> None:
        """Stop; what was put in before is still taken in."""
        self._closed = True
        self._inbox.put(None)
        if self._thread.is_alive() and threading.current_thread() is not self._thread:
            self._thread.join()

    def _run(self) -> None:
        wakeup = inf
        while True:
            happened = self._next(wakeup)
            if happened or not self._closed:
                wakeup = self._step(happened, wakeup)
            elif self._inbox.empty():
                return

    def _step(self, happened: Sequence[E], wakeup: float) -> float:
        try:
            return self._handle(happened, time.monotonic())
        except Exception:
            log.exception("a bug of steelyard's: the mesh could not handle %.500r", happened)
            return max(wakeup, time.monotonic() + 1.0)

    def _next(self, wakeup: float) -> list[E]:
        """Everything that has happened, or nothing when it is time."""
        happened: list[E] = []
        patience = 0.0 if self._closed else min(LONGEST, wakeup - time.monotonic())
        try:
            first = self._inbox.get(timeout=max(0.0, patience))
            if first is not None:
                happened.append(first)
            while len(happened) < TOGETHER:
                one = self._inbox.get_nowait()
                if one is not None:
                    happened.append(one)
        except Empty:
            pass
        return happened
