"""Plane: the data plane of one process, which runs in one thread.

A plane combines its parts: a loop, the pool of an application's workers, the front with the
clients, and the listeners. It also stops them without losing a request. Other threads change the
data thread's state only by assigning an attribute: in `offer` (a new table), `stop`, `replace` and
`Front.identity` (new certificates).
"""

from __future__ import annotations

import logging
import socket
from math import inf

from steelyard.balancer.downstream.front import Front
from steelyard.balancer.downstream.listener import Listener
from steelyard.balancer.exchange.dismissal import NOTICE, dismiss
from steelyard.balancer.exchange.vanished import break_vanished
from steelyard.balancer.io.loop import Loop, Waker
from steelyard.balancer.pool.counters import Bell
from steelyard.balancer.pool.pool import Pool
from steelyard.balancer.pool.table import EMPTY, Table
from steelyard.config.settings import Gateway

log = logging.getLogger(__name__)

# When a balancer stops, the next request of an idle client may be on its way. These are the seconds
# for it to arrive; its answer closes the connection. HURRIED is for a stop, where somebody waits
# for the end of the gateway. UNHURRIED is for a reload, where other processes serve the port.
HURRIED = 1.0
UNHURRIED = 5.0


class Plane:
    """One loop, one pool and one front, from the start of a process to its end."""

    __slots__ = (
        "_end",
        "_offered",
        "_replaced",
        "_stops",
        "_waker",
        "front",
        "loop",
        "pool",
        "settings",
    )

    def __init__(self, settings: Gateway, listener: socket.socket, bell: Bell) -> None:
        self.settings = settings
        self.loop = Loop(_sweep_every(settings))
        self.pool = Pool(settings, self.loop, bell)
        self.front = Front(settings, self.pool)
        self._offered: Table = EMPTY
        self._replaced = False
        self._stops = 0
        self._end = inf  # while draining: when the remaining connections are cut
        self._waker = Waker(self.loop, self)
        Listener(self.front, listener)

    def accept_from(self, listener: socket.socket) -> None:
        """Accept clients from one more socket; call this before `run`."""
        Listener(self.front, listener)

    # Methods that any thread may call

    def offer(self, table: Table) -> None:
        """Have the data thread use this table; the bell rings once it does."""
        self._offered = table
        self._waker.wake()

    def stop(self) -> None:
        """Stop when the open exchanges have ended; a second call stops at once."""
        self._stops += 1
        self._waker.wake()

    def replace(self) -> None:
        """Stop when the present clients have left, because other processes serve the port."""
        self._replaced = True
        self._waker.wake()

    # Methods that only the data thread calls

    def run(self) -> None:
        """Serve clients until the loop stops, then abort what is left."""
        self.woken()
        try:
            self.loop.run()
        finally:
            for client in list(self.front.clients):
                client.abort()
            self.loop.close()

    def woken(self) -> None:
        """Carry out the requests of other threads."""
        table = self._offered
        if table is not self.pool.table:
            self._serve_from(table)
        if self._stops > 1:
            self._cut_off()
        elif self._stops:
            self._drain(HURRIED)
        elif self._replaced:
            self._drain(UNHURRIED)

    def expired(self) -> None:
        """Dismiss WebSockets shortly before the drain time ends; cut all clients off at its end."""
        if self._end > self.loop.now:
            dismiss(self.loop)
            self._waker.deadline = self._end
        else:
            self._cut_off()

    def _serve_from(self, table: Table) -> None:
        self.pool.serve(table)
        if table.closing:
            dismiss(self.loop, table.closing)
        if table.ended:
            break_vanished(self.loop, table.ended)
        self.pool.bell.ring()

    def _cut_off(self) -> None:
        if self.front.clients:
            log.warning("%d clients are cut off by the stop", len(self.front.clients))
        self.loop.running = False

    def _drain(self, patience: float) -> None:
        """Stop accepting, and close idle clients after `patience`. A second call with less patience
        does not shorten the time for open exchanges."""
        front = self.front
        if not front.draining:
            self._leave()
        if patience < front.patience:
            front.patience = patience
            for client in list(front.clients):
                client.hasten()
        if not front.clients:
            self.loop.running = False

    def _leave(self) -> None:
        front, drain = self.front, self.settings.drain
        for entrance in front.entrances:
            entrance.leave()
        front.draining = True
        log.info("stopping: %d clients have %g s", len(front.clients), drain)
        self._end = self.loop.now + drain
        self._waker.deadline = self._end - min(NOTICE, drain / 2)


def _sweep_every(limits: Gateway) -> float:
    """Return the seconds between two sweeps: a quarter of the shortest time limit, within bounds.
    A deadline is noticed at most that much too late."""
    shortest = min(
        limits.head_timeout,
        limits.idle_timeout,
        limits.body_timeout,
        limits.connect_timeout,
        limits.answer_timeout,
        limits.upstream_idle,
        limits.tunnel_idle,
        limits.waiting_time,
        limits.total_timeout or inf,
    )
    return min(0.5, max(0.05, shortest / 4))
