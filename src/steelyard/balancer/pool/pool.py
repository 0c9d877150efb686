"""Pool: the workers of one application, and the requests that wait for one of them.

The pool holds the state of an application that belongs to no single client: the table, the inputs
of the policy, the retry budget, ejection, sticky sessions, latency estimates and the waiting
requests. The pool runs in the data thread; the control thread only reads its counts.
"""

from __future__ import annotations

import logging
import sys
from math import inf

from steelyard.balancer.io.loop import Loop
from steelyard.balancer.pool.counters import Bell, Tally
from steelyard.balancer.pool.ejection import Ejector
from steelyard.balancer.pool.latency import ESTIMATORS, assume, by_pace
from steelyard.balancer.pool.limits import Limits
from steelyard.balancer.pool.requester import Requester
from steelyard.balancer.pool.retry_budget import RetryBudget
from steelyard.balancer.pool.sticky import make_sticky
from steelyard.balancer.pool.table import EMPTY, Table
from steelyard.balancer.pool.waiting import WaitingRequests
from steelyard.balancer.pool.worker import Worker
from steelyard.config.settings import Gateway
from steelyard.select import KEYED

log = logging.getLogger(__name__)


class Pool:
    """The workers that serve now, and the state that this process keeps about them."""

    __slots__ = (
        "_waiting_time",
        "bell",
        "budget",
        "ejector",
        "estimator",
        "keyed",
        "limits",
        "loop",
        "paced",
        "refused",
        "room",
        "sticky",
        "table",
        "waiting",
        "waiting_since",
    )

    def __init__(self, settings: Gateway, loop: Loop, bell: Bell) -> None:
        self.loop = loop
        self.bell = bell  # tells the control thread that there is something to report
        self.limits = Limits(settings)
        self.table: Table = EMPTY
        self.keyed = settings.policy in KEYED  # the policy needs the client's address
        self.estimator = ESTIMATORS.get(settings.policy)  # None: the policy ignores latency
        # The default policy's estimator is called by its name: compiled, that is a C call.
        self.paced = settings.policy == "shortest_wait"
        self.room = settings.worker_concurrency or sys.maxsize  # exchanges at once, per worker
        self.budget = RetryBudget(settings.retry_budget / 100, loop.now)
        self.ejector = Ejector(settings.eject_after, settings.eject_first, settings.eject_longest)
        self.sticky = make_sticky(settings)
        self.waiting: WaitingRequests[Requester] = WaitingRequests(settings.waiting)
        self.waiting_since = inf  # when the oldest waiting request began to wait
        self._waiting_time = settings.waiting_time
        self.refused = 0  # requests that found no worker

    def serve(self, table: Table) -> None:
        """Choose workers from this table from now on."""
        for worker in self.table.serving - table.serving:
            worker.leave()
        for worker in table.serving:
            worker.serving = True
        if table.serving != self.table.serving:
            self.ejector.fleet([worker.record for worker in table.serving])
        if self.sticky is not None:
            self.sticky.serve(table.serving)
        self.table = table

    # Waiting requests

    def wait(self, requester: Requester, since: float) -> bool:
        """Let a request wait for a worker with room; return False if too many requests wait.

        The loop checks for room after every round of events, and has at least one round per sweep.
        So nobody has to notify the waiting requests when an exchange ends, an ejection ends or a
        new table arrives.
        """
        if not self.waiting.join(requester.asker, requester, since):
            return False
        self.loop.chore = self.serve_waiting
        self.waiting_since = min(since, self.waiting_since)
        return True

    def serve_waiting(self) -> None:
        """Begin requests that a worker has room for; refuse requests that waited too long."""
        waiting = self.waiting
        for requester in waiting.late(self.loop.now - self._waiting_time):
            requester.on_wait_over()
        for _ in range(len(waiting)):  # a request that fails at once may wait again
            if not waiting or not self._has_room():
                break
            waiting.next().on_turn()
        self.waiting_since = waiting.oldest if waiting else inf
        if not waiting:
            self.loop.chore = None

    def _has_room(self) -> bool:
        """Whether a worker has room. An empty table counts as room, so that no request waits for a
        worker that may never come."""
        now, room, serving = self.loop.now, self.room, self.table.serving
        return not serving or any(
            worker.tally.inflight < room and worker.record.until <= now for worker in serving
        )

    # Results of requests

    def measured(self, tally: Tally, seconds: float, line: int) -> None:
        """Record that a worker took `seconds` to answer, with `line` exchanges in flight when the
        request joined them."""
        if self.estimator is None:
            return
        known = tally.seen
        if self.paced:
            by_pace(tally, seconds, line, self.loop.now)
        else:
            self.estimator(tally, seconds, line, self.loop.now)
        if not known:
            assume([worker.tally for worker in self.table.serving])

    def struck(self, worker: Worker) -> None:
        """Record that a worker failed a request; eject the worker after too many failures."""
        record = worker.record
        if self.ejector.failed(record, self.loop.now):
            worker.tally.ejections += 1
            log.warning(
                "%s failed %d times in a row: left out for %g s",
                worker.name,
                record.strikes,
                record.backoff,
            )

    def redeemed(self, worker: Worker) -> None:
        """Clear the failures of a worker: it gave a complete answer."""
        if worker.record.until:
            log.warning("%s answers again", worker.name)
        self.ejector.succeeded(worker.record)
