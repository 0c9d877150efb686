"""Intake: makes a table from a queue, in the control thread, so that no request waits for it."""

from __future__ import annotations

import asyncio
import threading
import time
from collections.abc import Callable

from steelyard.balancer.control.resolver import Name, Resolver
from steelyard.balancer.pool.table import Directory, Table
from steelyard.core.queue import Queue


class Intake:
    """Applies queues. Workers with a known address serve at once; the others follow when their
    names are resolved."""

    def __init__(
        self, offer: Callable[[Table], None], directory: Directory, resolver: Resolver
    ) -> None:
        """`offer` hands a table to the data thread."""
        self._hand_over = offer
        self._directory = directory
        self._resolver = resolver
        self._queue: Queue | None = None
        self._looking: asyncio.Task[None] | None = None
        self.first = threading.Event()  # a queue was applied, with its names looked up

    def apply(self, queue: Queue) -> None:
        """Offer a table for this queue, and look up names that are unknown or old."""
        self._queue = queue
        self._offer(queue)
        stale = self._resolver.stale(self._names(queue))
        if stale and self._looking is None:
            self._looking = asyncio.create_task(self._look_up(stale))
        if self._looking is None:
            self.first.set()

    def _offer(self, queue: Queue) -> None:
        places = self._resolver.known(self._names(queue))
        self._hand_over(self._directory.update(queue, places, time.monotonic()))

    def tend(self) -> None:
        """Offer a new table if time alone has changed it since the last queue."""
        table = self._directory.tend(time.monotonic())
        if table is not None:
            self._hand_over(table)

    async def _look_up(self, names: list[Name]) -> None:
        try:
            changed = await self._resolver.refresh(names)
        finally:
            self._looking = None
        if changed and self._queue is not None:
            self._offer(self._queue)
        self.first.set()

    def _names(self, queue: Queue) -> list[Name]:
        return [(entry.host, entry.port) for entry in queue.workers]
