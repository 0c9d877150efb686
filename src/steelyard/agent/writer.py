"""The writer: keeps the store up to date, whenever it can be reached.

Only the newest change of each worker matters. A change that cannot be written now is kept by the
name of its worker, and written when the store is back. All other records are then written as well,
because a server may have come back empty. No other part of the agent waits for the store.
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

LIMITS = ""  # the key of the limits among those of workers, none of which has an empty name
LONGEST = 4.0  # the longest pause between two attempts, in seconds


class Writer:
    """Writes changes to the store in the background."""

    def __init__(self, store: Store, holder: str = "", pause: float = 0.5) -> None:
        self.store = store
        self.down = ""  # why the last write failed; empty if it succeeded
        self._holder = holder  # the holder of the lease that writes; empty without a lease
        self._pause = pause
        self._tries = 0  # failed attempts in a row
        self._known: dict[str, Change] = {}  # everything that the store should hold
        self._pending: dict[str, Change] = {}  # changes that have not been written yet
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
        """Write all records, changed or not: the store may have lost them."""
        self._pending = {**self._known, **self._pending}
        if self._pending:
            self._idle.clear()
            self._wake.set()

    async def run(self) -> None:
        """Write pending changes, for ever."""
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
        """Wait until nothing is pending, or for `timeout` seconds: the store may be down."""
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
            log.info("the store is back: all records are written again")
            self.down = ""
            self.write_again()

    def _note_down(self, error: StoreError) -> None:
        if not self.down:
            log.warning("store: %s; going on from memory", error.message)
        self.down = error.message
