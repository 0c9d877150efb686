"""Packs the units of a job as they are needed: a generator of millions does not fill memory.

The first items of a list are packed and sent in the caller's thread, so that the caller gets the
error if something is wrong with them. A thread takes all other items. It never has more than AHEAD
units that have not ended, nor (by their mean) more than BULK bytes of arguments. A generator may be
slow, or wait for answers: each of its units is sent before it is asked for the next. After its job
has ended, because it was cancelled or its time was over, the generator's items are ignored.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any

from steelyard.errors import UsageError
from steelyard.mesh.execution.wire import WireError, pack_call
from steelyard.mesh.job import Job
from steelyard.mesh.sinks import Lot, Sink

AHEAD = 4096  # units that have not ended, at most; some seconds of work for many nodes
BULK = 512 * 1024 * 1024  # bytes of their arguments, at most
TOGETHER = 512  # units that are submitted at once: the first leave before all are packed


class Feed:
    """Gives a client the units of one job."""

    def __init__(
        self,
        job: Job,
        calls: Iterable[Sequence[Any]],
        keys: Iterable[Any] | None,
        send: Callable[[Lot], object],
        within: float | None = None,
    ) -> None:
        self._job, self._send, self._within = job, send, within
        self._calls = iter(calls)
        self._keys: Iterator[Any] | None = None if keys is None else iter(keys)
        self._position = 0
        self._size = 0  # bytes packed so far
        self._together = 1  # units in a lot: 1 for a generator, TOGETHER for a list

    def start(self) -> None:
        """Send the first units now, and the rest when there is room for them."""
        if self._job.total is None:
            self._begin(self._run_until)
        elif self._send_first():
            self._begin(self._run)
        else:
            self._job.seal()

    def _begin(self, run: Callable[[], None]) -> None:
        threading.Thread(target=run, name="steelyard-feed", daemon=True).start()

    def _send_first(self) -> bool:
        """Send the first AHEAD units; return whether there may be others."""
        lot: Lot = []
        there_is_more = self._pack(AHEAD, lot)
        for first in range(0, len(lot), TOGETHER):
            self._send(lot[first : first + TOGETHER])
        self._together = TOGETHER
        return there_is_more

    def _run_until(self) -> None:
        """Run with a timer, as a generator may have no end, or may not yield the next item
        in time.
        """
        patience = min(self._within or 0.0, threading.TIMEOUT_MAX)
        alarm = threading.Timer(patience, self._job.seal)
        alarm.daemon = True
        if self._within is not None:
            alarm.start()
        self._run()
        alarm.cancel()

    def _run(self) -> None:
        try:
            while self._job.wait_for_room(self._most - self._lot) and self._go_on():
                pass
        # From the caller's generator; whoever takes the answers gets it.
        except BaseException as error:
            self._job.seal(error)
        else:
            self._job.seal()

    @property
    def _most(self) -> int:
        """How many units may be under way: fewer if they are large, but at least one."""
        return max(1, min(AHEAD, BULK * self._position // max(1, self._size)))

    @property
    def _lot(self) -> int:
        """How many units are packed before they are sent."""
        return min(self._together, max(1, self._most * TOGETHER // AHEAD))

    def _go_on(self) -> bool:
        """Send some more units; return whether there may be others. Units before an error are sent,
        too.
        """
        lot: Lot = []
        try:
            return self._pack(self._lot, lot)
        finally:
            self._send(lot)

    def _pack(self, most: int, lot: Lot) -> bool:
        """Pack some more units into `lot`; return whether there may be others."""
        limit = self._size + BULK
        while len(lot) < most and self._size < limit:
            try:
                call = next(self._calls)
            except StopIteration:
                self._check_length()
                return False
            packed = self._packed(call)
            lot.append((packed, Sink(self._job.deliver, self._key(call), self._position)))
            self._position += 1
            self._size += len(packed)
        return True

    def _check_length(self) -> None:
        """Raise an error if items were removed while the job ran: whatever has a length may be
        changed.
        """
        total = self._job.total
        if total is not None and self._position < total:
            raise UsageError(
                f"there were {total} items when the job began, and only {self._position} now",
                hint="do not change them while it runs, or pass a copy",
            )

    def _packed(self, call: Sequence[Any]) -> bytes:
        if not isinstance(call, Iterable):
            raise UsageError(
                f"unit {self._position + 1} is not a sequence of arguments: {call!r:.100}",
                hint="map() takes one argument for each unit",
            )
        try:
            return pack_call(*call)
        except WireError as error:
            raise WireError(f"unit {self._position + 1} {error.message}", hint=error.hint) from None

    def _key(self, call: Sequence[Any]) -> Any:
        if self._keys is None:
            return call[0] if len(call) == 1 else call
        try:
            return next(self._keys)
        except StopIteration:
            raise UsageError(
                f"there is no key for unit {self._position + 1}", hint="give one key for each unit"
            ) from None
