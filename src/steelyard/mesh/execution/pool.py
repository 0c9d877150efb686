"""The children of one node: units go in, outcomes come out.

`start` sends orders from the thread that calls it. One thread of the pool's own reads answers,
watches deadlines and delivers outcomes. While every child has work in advance, that thread reads
only now and then: answers wait in the sockets, where no crash can harm them, and many are read at
once.
"""

from __future__ import annotations

import logging
import os
import select
import selectors
import threading
import time
from collections.abc import Callable, Iterable, Sequence
from typing import Protocol

from steelyard.mesh.execution.keeper import PAUSE, SLOW_TICK, TICK, Keeper
from steelyard.mesh.execution.outcome import Outcome
from steelyard.mesh.execution.unit import Unit

Deliver = Callable[[Sequence[Outcome]], None]
log = logging.getLogger(__name__)


class Executor(Protocol):
    """The interface of a pool for a node. All methods may be called from any thread.

    A pool is made with the number of its children and a `Deliver` callback. The callback receives
    the outcome of each ticket once, with several outcomes in one call if they come together. A
    thread of the pool calls it, one call at a time. It must not block, and may call `start`,
    `cancel` and `recall`.
    """

    def wait(self, patience: float) -> bool:
        """Wait until the children have started; False if that takes longer than `patience`."""

    def start(self, ticket: int, unit: Unit) -> None:
        """Run a unit as soon as a child is free; a ticket is used once in a pool's life."""

    def start_all(self, batch: Iterable[tuple[int, Unit]]) -> None:
        """Run many units; that is cheaper than one by one."""

    def cancel(self, ticket: int) -> None:
        """End a unit, running or not; its outcome is CANCELLED unless it had ended before."""

    def recall(self) -> tuple[int, ...]:
        """Take back units that no child has begun, oldest first; these get no outcome.

        Some units that have not begun may stay, and get an outcome.
        """

    @property
    def free(self) -> int:
        """The number of children that would be idle if all units were spread over them."""

    def close(self) -> None:
        """Kill the children; unfinished units get no outcome, and none is delivered afterwards."""


class Pool:
    """An executor whose children are forked by a nursery."""

    def __init__(
        self,
        children: int,
        deliver: Deliver,
        *,
        preload: Sequence[str] = (),
        path: Sequence[str] = (),
    ) -> None:
        """`path`: folders that children import from before all others."""
        self._deliver = deliver
        self._lock = threading.Lock()
        self._closed = False
        self._looked = self._relieved = time.monotonic()
        self._keeper = Keeper(children, preload, path)
        self._wake = os.eventfd(0, os.EFD_NONBLOCK | os.EFD_CLOEXEC)
        self._keeper.selector.register(self._wake, selectors.EVENT_READ)
        self._keeper.bell.register(self._wake, select.POLLIN)
        self._thread = threading.Thread(target=self._run, name="steelyard-pool", daemon=True)
        self._thread.start()

    def wait(self, patience: float) -> bool:
        return self._keeper.up.wait(patience)

    def start(self, ticket: int, unit: Unit) -> None:
        self.start_all([(ticket, unit)])

    def start_all(self, batch: Iterable[tuple[int, Unit]]) -> None:
        with self._lock:
            if self._closed:
                return
            before = self._keeper.patience
            self._keeper.take(batch)
            if self._keeper.patience != before:
                self._rouse()

    def cancel(self, ticket: int) -> None:
        with self._lock:
            if not self._closed:
                self._keeper.cancel(ticket)
                self._rouse()

    def recall(self) -> tuple[int, ...]:
        with self._lock:
            if self._closed:
                return ()
            self._rouse()
            return self._keeper.recall()

    @property
    def free(self) -> int:
        return self._keeper.dealer.free

    def close(self) -> None:
        with self._lock:
            if not self._closed:
                self._closed = True
                self._rouse()
        if threading.current_thread() is not self._thread:
            self._thread.join()

    def _rouse(self) -> None:
        os.eventfd_write(self._wake, 1)

    def _run(self) -> None:
        while not self._closed:
            try:
                self._turn()
            except Exception:  # without this thread no unit would ever end
                log.exception("a bug in Steelyard: a pool could not manage its children")
                time.sleep(PAUSE)
        self._keeper.close()
        os.close(self._wake)

    def _turn(self) -> None:
        """Wait for an event, and handle it."""
        ready = self._keeper.selector.select(self._keeper.patience)
        now = time.monotonic()
        with self._lock:
            for key, _ in ready:
                self._attend(key.data)
            if now - self._looked >= TICK:
                self._looked = now
                self._keeper.look_after()
            self._keeper.deal()
            if now - self._relieved >= SLOW_TICK:
                self._relieved = now
                self._keeper.relieve()
            told, self._keeper.outbox = self._keeper.outbox, []
        if told:
            self._tell(told)
        with self._lock:
            nap = self._keeper.nap  # read after the delivery, which may have added units
        if nap:
            self._keeper.bell.poll(1000 * nap)

    def _attend(self, number: int | None) -> None:
        if number is None:
            os.eventfd_read(self._wake)
        else:
            self._keeper.attend(number)

    def _tell(self, outcomes: Sequence[Outcome]) -> None:
        if self._closed:
            return
        try:
            self._deliver(outcomes)
        except Exception:
            log.exception("%d outcomes could not be delivered", len(outcomes))
