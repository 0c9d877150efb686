"""Attempts: which worker an exchange tries, and which next when that one fails."""

from __future__ import annotations

from typing import TYPE_CHECKING

from steelyard.balancer.pool.upstream import Upstream
from steelyard.balancer.pool.worker import Worker

if TYPE_CHECKING:
    from steelyard.balancer.exchange.exchange import Exchange
    from steelyard.balancer.plane import Plane


class Attempts:
    """Finds workers for exchanges: each try at another one, and all but the first on a fresh
    connection, since a second idle one of a restarted worker is as dead as the first.

    There is one for all exchanges; whom each has tried, it keeps itself.
    """

    __slots__ = ("_plane",)

    def __init__(self, plane: Plane) -> None:
        self._plane = plane

    def first(self, exchange: Exchange, careful: bool) -> Upstream | None:
        """A connection to the worker that the policy chooses; None: there is none to be had."""
        self._plane.budget.requests += 1
        worker = self._choose(exchange)
        if worker is None:
            return None
        upstream = None if exchange.tried else worker.take(careful)
        if upstream is not None:
            upstream.lend(exchange)
            return upstream
        return self._connect(worker, exchange)

    def again(self, exchange: Exchange, failed: Upstream) -> Upstream | None:
        """A connection to a worker that has not failed yet.

        An idle connection that turns out dead says nothing about its worker: when there is no
        other, that one gets a second chance.
        """
        worker = failed.worker
        exchange.tried += (worker,)
        if not self._another_try(exchange):
            return None
        pin = exchange.forward.head.pin
        if pin is not None and pin.home is worker:
            if failed.reused and worker.serving:  # its session is there
                return self._connect(worker, exchange)
            pin.home = None
        other = self._untried(exchange)
        if other is None and failed.reused and worker.serving:
            other = worker
        return None if other is None else self._connect(other, exchange)

    def _connect(self, worker: Worker | None, exchange: Exchange) -> Upstream | None:
        plane = self._plane
        while worker is not None:
            try:
                upstream = Upstream(plane.loop, worker, exchange)
            except OSError:
                worker.tally.failed_try()
                plane.struck(worker)
                exchange.tried += (worker,)
                pin = exchange.forward.head.pin
                if pin is not None and pin.home is worker:
                    pin.home = None
                worker = self._untried(exchange) if self._another_try(exchange) else None
            else:
                upstream.deadline = plane.loop.now + plane.limits.connect_timeout
                return upstream
        return None

    def _another_try(self, exchange: Exchange) -> bool:
        plane = self._plane
        exchange.crowded = False
        return len(exchange.tried) <= plane.limits.retries and plane.budget.spend(plane.loop.now)

    def _choose(self, exchange: Exchange) -> Worker | None:
        plane = self._plane
        choice = plane.table.choice
        if choice is None:
            return None
        if plane.sticky is not None:
            home = self._home(exchange)
            if home is not None:
                return home
        tally = choice.only
        if tally is None:
            tally = choice.pick(exchange.asker) if plane.keyed else choice.pick()
        worker = tally.worker
        if worker.record.until or worker.tally.inflight >= plane.room or exchange.tried:
            return worker if self._fits(exchange, worker) else self._untried(exchange)
        return worker

    def _home(self, exchange: Exchange) -> Worker | None:
        """The worker that the client's session is with, if it can be asked now. One that is only
        full keeps the session; one that is ejected, failed or leaving does not."""
        pin = exchange.forward.head.pin
        home = None if pin is None else pin.home
        if pin is None or home is None:
            return None
        if home.serving and self._fits(exchange, home):
            return home
        if not home.serving or home.tally.inflight < self._plane.room:
            pin.home = None
        return None

    def _untried(self, exchange: Exchange) -> Worker | None:
        """The next of the ring that may be asked: second choices go by weight alone."""
        choice = self._plane.table.choice
        if choice is None:
            return None
        ring = choice.ring
        exchange.crowded = False
        for _ in range(ring.size):
            worker = ring.pick()
            if self._fits(exchange, worker):
                return worker
        return None

    def _fits(self, exchange: Exchange, worker: Worker) -> bool:
        if worker in exchange.tried:
            return False
        plane = self._plane
        if worker.tally.inflight >= plane.room:
            exchange.crowded = True
            return False
        return not worker.record.until or plane.ejector.admits(worker.record, plane.loop.now)
