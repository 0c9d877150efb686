"""The writer: keeps the store true, whenever it can be reached.

Only the newest change of each worker matters, so what cannot be written now is kept by key and
written when the store is back, together with all else: a server may have come back empty. Nothing
ever waits for the store.
"""

from __future__ import annotations

import asyncio
import logging
from contextlib import suppress

from steelyard.core.commands import Change, Forget, Save, SaveLimits
from steelyard.core.record import LimitsRecord, WorkerRecord
from steelyard.errors import StoreError
from steelyard.store.base import Store

log = logging.getLogger(__name__)

LIMITS = ""  # no worker has an empty name
LONGEST = 4.0  # seconds between two tries, when many have failed


class Writer:
    """Writes in the background."""

    def __init__(self, store: Store, holder: str = "", pause: float = 0.5) -> None:
        self.store = store
        self.down = ""  # why the store cannot be written; empty when it can
        self._holder = holder  # of the lease under which we write; empty without one
        self._pause = pause
        self._tries = 0  # that failed, one after the other
        self._known: dict[str, Change] = {}  # all that the store should hold
        self._pending: dict[str, Change] = {}
        self._wake = asyncio.Event()
        self._idle = asyncio.Event()
        self._idle.set()

    def save(self, record: WorkerRecord) -> None:
        self._put(record.name, Save(record))

    def forget(self, name: str) -> None:
        self._put(name, Forget(name))

    def save_limits(self, limits: LimitsRecord) -> None:
        self._put(LIMITS, SaveLimits(limits))

    def write_again(self) -> None:
        """Write everything, changed or not: the store may have lost it."""
        self._pending = {**self._known, **self._pending}
        if self._pending:
            self._idle.clear()
            self._wake.set()

    async def run(self) -> None:
        """Write what is pending, for ever."""
        while True:
            await self._wake.wait()
            self._wake.clear()
            try:
                await self._write_all()
            except StoreError as error:
                self._note_down(error)
                await asyncio.sleep(min(self._pause * 2**self._tries, LONGEST))
                self._tries = min(self._tries + 1, 10)
                self._wake.set()

    async def flush(self, timeout: float) -> None:
        """Wait until nothing is pending, but not for ever: the store may be down."""
        with suppress(TimeoutError):
            await asyncio.wait_for(self._idle.wait(), timeout)

    def _put(self, name: str, change: Change) -> None:
        self._pending[name] = change
        if isinstance(change, Forget):
            self._known.pop(name, None)
        else:
            self._known[name] = change
        self._idle.clear()
        self._wake.set()

    async def _write_all(self) -> None:
        while self._pending:
            batch = dict(self._pending)
            await self.store.write([*batch.values()], self._holder)
            for name, change in batch.items():
                if self._pending[name] is change:
                    del self._pending[name]
            self._note_up()
        self._idle.set()

    def _note_up(self) -> None:
        self._tries = 0
        if self.down:
            log.info("store is back: everything is written again")
            self.down = ""
            self.write_again()

    def _note_down(self, error: StoreError) -> None:
        if not self.down:
            log.warning("store: %s; going on from memory", error.message)
        self.down = error.message
