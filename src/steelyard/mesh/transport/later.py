"""A thread that runs callbacks one after the other, for callers that must not run them
themselves.
"""

from __future__ import annotations

import logging
import queue
import threading
from collections.abc import Callable

log = logging.getLogger(__name__)


class Later:
    """Runs the calls that it is given, in order, until it is closed."""

    def __init__(self, name: str) -> None:
        self._calls: queue.SimpleQueue[Callable[[], None] | None] = queue.SimpleQueue()
        self._closed = False
        self._thread = threading.Thread(target=self._run, name=name, daemon=True)
        self._thread.start()

    def __call__(self, call: Callable[[], None]) -> None:
        self._calls.put(call)

    def close(self) -> None:
        """Stop: no call begins after this."""
        self._closed = True
        self._calls.put(None)
        if threading.current_thread() is not self._thread:
            self._thread.join()

    def _run(self) -> None:
        while (call := self._calls.get()) is not None and not self._closed:
            try:
                call()
            except Exception:
                log.exception("a callback failed")
