"""Attempts: chooses a worker for a request, and another one when the first fails."""

from __future__ import annotations

from steelyard.balancer.pool.pool import Pool
from steelyard.balancer.pool.requester import Requester
from steelyard.balancer.pool.upstream import Upstream
from steelyard.balancer.pool.worker import Worker


class Attempts:
    """Finds workers for requests. Each attempt goes to another worker if there is one. All attempts
    but the first use a new connection, because a second idle connection to a restarted worker is
    as dead as the first.

    One object serves all requests of a pool; each requester keeps the workers it has tried.
    """

    __slots__ = ("_pool",)

    def __init__(self, pool: Pool) -> None:
        self._pool = pool

    def first(self, requester: Requester, careful: bool) -> Upstream | None:
        """Return a connection to the worker that the policy chooses, or None if none is available.
        `careful`: check an idle connection first, as the request cannot be repeated."""
        self._pool.budget.requests += 1
        worker = self._choose(requester)
        if worker is None:
            return None
        kept = None if requester.tried else worker.take(careful)
        if isinstance(kept, Upstream):
            kept.lend(requester)
            return kept
        return self._connect(worker, requester)

    def again(self, requester: Requester, failed: Upstream) -> Upstream | None:
        """Return a connection to a worker that has not failed this request, or None.

        An idle connection that turns out dead says nothing about its worker: the worker gets a
        second attempt if there is no other worker, or if the client's session is with it.
        """
        worker = failed.worker
        requester.tried += (worker,)
        if not self._another_try(requester):
            return None
        pin = requester.pin
        if pin is not None and pin.home is worker:
            if failed.reused and worker.serving:  # it has the client's session
                return self._connect(worker, requester)
            pin.home = None
        other = self._untried(requester)
        if other is None and failed.reused and worker.serving:
            other = worker
        return None if other is None else self._connect(other, requester)

    def _connect(self, worker: Worker | None, requester: Requester) -> Upstream | None:
        pool = self._pool
        while worker is not None:
            try:
                upstream = Upstream(pool.loop, worker, requester)
            except OSError:
                worker.tally.failed_try()
                pool.struck(worker)
                requester.tried += (worker,)
                pin = requester.pin
                if pin is not None and pin.home is worker:
                    pin.home = None
                worker = self._untried(requester) if self._another_try(requester) else None
            else:
                upstream.deadline = pool.loop.now + pool.limits.connect_timeout
                return upstream
        return None

    def _another_try(self, requester: Requester) -> bool:
        pool = self._pool
        requester.crowded = False
        return len(requester.tried) <= pool.limits.retries and pool.budget.spend(pool.loop.now)

    def _choose(self, requester: Requester) -> Worker | None:
        pool = self._pool
        choice = pool.table.choice
        if choice is None:
            return None
        if pool.sticky is not None:
            home = self._home(requester)
            if home is not None:
                return home
        tally = choice.only
        if tally is None:
            tally = choice.pick(requester.asker) if pool.keyed else choice.pick()
        worker = tally.worker
        if worker.record.until or worker.tally.inflight >= pool.room or requester.tried:
            return worker if self._fits(requester, worker) else self._untried(requester)
        return worker

    def _home(self, requester: Requester) -> Worker | None:
        """Return the worker of the client's session if it can take a request now. A worker that is
        only full keeps the session; a worker that is ejected, failed or leaving loses it."""
        pin = requester.pin
        home = None if pin is None else pin.home
        if pin is None or home is None:
            return None
        if home.serving and self._fits(requester, home):
            return home
        if not home.serving or home.tally.inflight < self._pool.room:
            pin.home = None
        return None

    def _untried(self, requester: Requester) -> Worker | None:
        """Return the next worker of the ring that can take the request. The policy makes only the
        first choice; the ring goes by weight alone."""
        choice = self._pool.table.choice
        if choice is None:
            return None
        ring = choice.ring
        requester.crowded = False
        for _ in range(ring.size):
            worker = ring.pick()
            if self._fits(requester, worker):
                return worker
        return None

    def _fits(self, requester: Requester, worker: Worker) -> bool:
        if worker in requester.tried:
            return False
        pool = self._pool
        if worker.tally.inflight >= pool.room:
            requester.crowded = True
            return False
        return not worker.record.until or pool.ejector.admits(worker.record, pool.loop.now)
