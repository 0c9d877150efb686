"""Units of a job that are packed as they are needed: a generator of millions does not fill memory.

The first are packed and sent by whoever submits the job, so that what is wrong with them is told
there. When there are more, a thread goes on, and never has more than AHEAD units that have not
ended.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import islice
from typing import Any, NamedTuple

from steelyard.errors import UsageError
from steelyard.mesh.answer import Answer
from steelyard.mesh.execution.wire import pack_call
from steelyard.mesh.job import Job

AHEAD = 4096  # units that have not ended; some seconds of work for many nodes
TOGETHER = 512  # units that are submitted at once: the first are out while the rest is packed


class Sink(NamedTuple):
    """Where the answer of a unit goes."""

    deliver: Callable[[Sequence[Answer]], None]  # it may be told of several at once
    key: Any
    position: int = 0
    line: bytes | None = None  # its key in the journal


Lot = list[tuple[bytes, Sink]]  # packed arguments, and where the answer goes


class Feed:
    """Gives a client the units of one job."""

    def __init__(
        self,
        job: Job,
        calls: Iterable[Sequence[Any]],
        keys: Iterable[Any] | None,
        send: Callable[[Lot], None],
    ) -> None:
        self._job, self._send = job, send
        self._calls = iter(calls)
        self._keys: Iterator[Any] | None = None if keys is None else iter(keys)
        self._position = 0
        self._sent = AHEAD  # when there is more to do after the first

    def start(self) -> None:
        """Send the first units, and the rest as there is room for them."""
        lot: Lot = []
        self._pack(AHEAD, lot)
        all_of_them = len(lot) < AHEAD
        if all_of_them:
            self._job.seal(len(lot))
        for first in range(0, len(lot), TOGETHER):
            self._send(lot[first : first + TOGETHER])
        if not all_of_them:
            threading.Thread(target=self._run, name="steelyard-feed", daemon=True).start()

    def _run(self) -> None:
        try:
            while self._job.wait_for_room(self._sent, AHEAD - TOGETHER) and self._go_on():
                pass
        except BaseException as error:  # of the caller's generator: whoever takes answers is told
            self._job.seal(self._sent, error)
        else:
            self._job.seal(self._sent)

    def _go_on(self) -> bool:
        """Send some more; whether there may be others. What came before an error is sent, too."""
        lot: Lot = []
        try:
            self._pack(TOGETHER, lot)
        finally:
            self._send(lot)
            self._sent += len(lot)
        return len(lot) == TOGETHER

    def _pack(self, most: int, lot: Lot) -> None:
        for call in islice(self._calls, most):
            packed = pack_call(*call)
            lot.append((packed, Sink(self._job.deliver, self._key(call), self._position)))
            self._position += 1

    def _key(self, call: Sequence[Any]) -> Any:
        if self._keys is None:
            return call[0] if len(call) == 1 else call
        try:
            return next(self._keys)
        except StopIteration:
            raise UsageError(
                f"there is no key for unit {self._position + 1}", hint="one for each"
            ) from None
