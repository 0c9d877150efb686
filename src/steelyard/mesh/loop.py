"""Drives a desk or a crew, one event after the other: from any thread; and what is due, on time.

Events that are `put` are taken in by a thread of the loop's own. Those that are taken in `here`
save the way to it: whoever brings them does what follows, and whatever others bring meanwhile.
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

LONGEST = 3600.0  # seconds; a lock cannot wait for ever
TOGETHER = 256  # events after which no more are taken in at once

E = TypeVar("E")


class Loop(Generic[E]):
    """Calls `handle` with what came in, and with nothing when it is as late as that wanted."""

    def __init__(self, name: str, handle: Callable[[Sequence[E], float], float]) -> None:
        self._handle = handle  # returns when it wants to be called again
        self._inbox: deque[Sequence[E]] = deque()
        self._turn = threading.Lock()  # is with whoever handles
        self._due = inf
        self._asleep_until = inf
        self._bell: SimpleQueue[None] = SimpleQueue()  # wakes our thread
        self._closed = False
        self._thread = threading.Thread(target=self._run, name=name, daemon=True)

    def start(self) -> None:
        """Begin."""
        self._thread.start()

    def put(self, *happened: E) -> None:
        """Something happened; what is put in together is taken in together."""
        self._inbox.append(happened)
        self._bell.put(None)

    def here(self, *happened: E) -> None:
        """The same, but it is the caller's thread that takes it in, if no other is at it."""
        if self._closed:
            return
        self._inbox.append(happened)
        self._take_in()
        if self._due < self._asleep_until:
            self._bell.put(None)

    def close(self, patience: float | None = None) -> None:
        """Stop; what was put in before is still taken in, and waited for."""
        self._closed = True
        self._bell.put(None)
        if self._thread.is_alive() and threading.current_thread() is not self._thread:
            self._thread.join(patience)

    def _run(self) -> None:
        while True:
            closed = self._closed  # before we take in what was put in before that
            self._take_in()
            if closed:
                return
            self._sleep()
            if self._due <= time.monotonic():
                with self._turn:
                    self._step()

    def _sleep(self) -> None:
        """Until somebody rings, or it is time.

        Whoever makes it earlier sets `_due` first and looks at `_asleep_until` then; here it is the
        other way round, so that one of the two sees what the other did.
        """
        self._asleep_until = inf
        self._asleep_until = until = self._due
        with suppress(Empty):
            self._bell.get(timeout=max(0.0, min(LONGEST, until - time.monotonic())))

    def _take_in(self) -> None:
        """What there is; who finds another at it leaves it to that one, who looks again."""
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
            kinds = ", ".join(sorted({type(one).__name__ for one in happened}))  # large, perhaps
            log.exception("a bug of steelyard's: the mesh could not handle %s", kinds)
            self._due = time.monotonic() + 1.0
