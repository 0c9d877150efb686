"""Pool: the workers of one application, and the requests that wait for one of them.

Here is all that belongs to an application and not to a client: the table, the policy's needs, the
retry budget, ejection, sticky sessions, latency estimates and the waiting requests. All of it runs
in the data thread; the control thread only reads counts.
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
    """The workers that serve now, and what this process has learned of them."""

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
        self.keyed = settings.policy in KEYED  # the policy wants to know the client's address
        self.estimator = ESTIMATORS.get(settings.policy)  # None: the policy ignores latency
        # The estimator of the default policy is called by name: as a C function when compiled.
        self.paced = settings.policy == "shortest_wait"
        self.room = settings.worker_concurrency or sys.maxsize  # exchanges at once, per worker
        self.budget = RetryBudget(settings.retry_budget / 100, loop.now)
        self.ejector = Ejector(settings.eject_after, settings.eject_first, settings.eject_longest)
        self.sticky = make_sticky(settings)
        self.waiting: WaitingRequests[Requester] = WaitingRequests(settings.waiting)
        self.waiting_since = inf  # when the first of the waiting requests joined them
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
        """Let a request wait for a worker with room; False when too many wait.

        Whether there is room is looked at after every round of events, of which there is one per
        sweep at least. So nothing need be told of what made room: the end of an exchange, the end
        of an ejection, or a new table.
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
        for _ in range(len(waiting)):  # each once at most: one that fails at once may wait again
            if not waiting or not self._has_room():
                break
            waiting.next().on_turn()
        self.waiting_since = waiting.oldest if waiting else inf
        if not waiting:
            self.loop.chore = None

    def _has_room(self) -> bool:
        """An empty table has room, so that no request waits for a worker that may never come."""
        now, room, serving = self.loop.now, self.room, self.table.serving
        return not serving or any(
            worker.tally.inflight < room and worker.record.until <= now for worker in serving
        )

    # What is learned of workers

    def measured(self, tally: Tally, seconds: float, line: int) -> None:
        """A worker took `seconds` to answer a request that was the `line`-th it had to do."""
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
        """A worker failed a request."""
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
        """A worker that had failed gave a whole answer."""
        if worker.record.until:
            log.warning("%s answers again", worker.name)
        self.ejector.succeeded(worker.record)
