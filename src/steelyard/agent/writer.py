"""The writer: keeps the store true, whenever it can be reached.

Only the newest word about each worker matters, so what cannot be written now is kept by key and
written when the store is back. Nothing ever waits for the store.
"""

from __future__ import annotations

import asyncio
import logging
from contextlib import suppress

from steelyard.core.record import LimitsRecord, WorkerRecord
from steelyard.errors import StoreError
from steelyard.store.base import Store

log = logging.getLogger(__name__)

LIMITS = ""  # no worker has an empty name


class Writer:
    """Writes in the background."""

    def __init__(self, store: Store, pause: float = 1.0) -> None:
        self.store = store
        self.down = ""  # why the store cannot be written; empty when it can
        self._pause = pause
        self._pending: dict[str, WorkerRecord | LimitsRecord | None] = {}
        self._wake = asyncio.Event()
        self._idle = asyncio.Event()
        self._idle.set()

    def save(self, record: WorkerRecord) -> None:
        self._put(record.name, record)

    def forget(self, name: str) -> None:
        self._put(name, None)

    def save_limits(self, limits: LimitsRecord) -> None:
        self._put(LIMITS, limits)

    async def run(self) -> None:
        """Write what is pending, for ever."""
        while True:
            await self._wake.wait()
            self._wake.clear()
            try:
                await self._write_all()
            except StoreError as error:
                self._note_down(error)
                await asyncio.sleep(self._pause)
                self._wake.set()

    async def flush(self, timeout: float) -> None:
        """Wait until nothing is pending, but not for ever: the store may be down."""
        with suppress(TimeoutError):
            await asyncio.wait_for(self._idle.wait(), timeout)

    def _put(self, name: str, word: WorkerRecord | LimitsRecord | None) -> None:
        self._pending[name] = word
        self._idle.clear()
        self._wake.set()

    async def _write_all(self) -> None:
        while self._pending:
            name, word = next(iter(self._pending.items()))
            await self._write(name, word)
            if self._pending.get(name) is word:
                del self._pending[name]
        if self.down:
            log.info("store is back: everything is written")
            self.down = ""
        self._idle.set()

    async def _write(self, name: str, word: WorkerRecord | LimitsRecord | None) -> None:
        match word:
            case WorkerRecord():
                await self.store.save(word)
            case LimitsRecord():
                await self.store.save_limits(word)
            case None:
                await self.store.delete(name)

    def _note_down(self, error: StoreError) -> None:
        if not self.down:
            log.warning("store: %s; going on from memory", error.message)
        self.down = error.message
