"""Plane: the data plane of one process. All of it runs in one thread.

The control thread reaches in at three points only, each a swapped reference: `offer` (a new
table), `stop`, and `identity` (new certificates), which is looked at with each new client.
"""

from __future__ import annotations

import logging
import secrets
import socket
import sys
from math import inf

from steelyard.balancer.downstream.connection_limit import ConnectionLimit
from steelyard.balancer.downstream.http1 import Client
from steelyard.balancer.downstream.identity import load_identity
from steelyard.balancer.downstream.listener import Listener
from steelyard.balancer.downstream.total_timeout import TotalTimeout
from steelyard.balancer.exchange.access_log import AccessLog
from steelyard.balancer.exchange.dismissal import NOTICE, dismiss
from steelyard.balancer.exchange.exchange import Exchange
from steelyard.balancer.exchange.vanished import break_vanished
from steelyard.balancer.http.date import Date
from steelyard.balancer.http.grammar import Reader
from steelyard.balancer.http.origin import Manner
from steelyard.balancer.io.loop import Loop, Waker
from steelyard.balancer.pool.attempts import Attempts
from steelyard.balancer.pool.counters import Bell, Tally
from steelyard.balancer.pool.ejection import Ejector
from steelyard.balancer.pool.latency import ESTIMATORS, assume, by_pace
from steelyard.balancer.pool.limits import Limits
from steelyard.balancer.pool.retry_budget import RetryBudget
from steelyard.balancer.pool.sticky import make_sticky
from steelyard.balancer.pool.table import EMPTY, Table
from steelyard.balancer.pool.waiting import WaitingRequests
from steelyard.balancer.pool.worker import Worker
from steelyard.config.settings import Gateway
from steelyard.select import KEYED

log = logging.getLogger(__name__)

# When a balancer stops, the next request of a client that waits for nothing may be on its way, or
# about to be: so many seconds are left for it to arrive, and its answer says that it is the last.
# Whoever stops a gateway waits for its end; where others serve the port by now, nobody does.
HURRIED = 1.0
UNHURRIED = 5.0


class Plane:
    """What clients and exchanges share: the loop, the limits and the present table."""

    __slots__ = (
        "_end",
        "_listeners",
        "_offered",
        "_replaced",
        "_stops",
        "_waker",
        "access_log",
        "bell",
        "budget",
        "clients",
        "crowd",
        "date",
        "dial",
        "draining",
        "ejector",
        "gauge",
        "greeted",
        "identity",
        "keyed",
        "limits",
        "line",
        "loop",
        "manner",
        "overdue",
        "own",
        "paced",
        "patience",
        "reader",
        "refused",
        "room",
        "scheme",
        "settings",
        "sticky",
        "table",
        "unshaken",
        "waiting_since",
    )

    def __init__(self, settings: Gateway, listener: socket.socket, bell: Bell) -> None:
        self.settings = settings
        self.limits = Limits(settings)
        self.reader = Reader(settings.head, settings.fields)
        self.date = Date()
        trusted = settings.trusted_proxies
        self.manner = Manner(settings.forwarded, trusted, secrets.token_hex(6).encode())
        self.keyed = settings.policy in KEYED  # the policy wants to know who asks
        self.gauge = ESTIMATORS.get(settings.policy)  # None: nobody asks how long a worker takes
        # The gauge of the default policy is called by name: as a C function when compiled.
        self.paced = settings.policy == "shortest_wait"
        self.greeted = settings.proxy_protocol == "on"  # by trusted proxies
        self.identity = load_identity(settings.pairs) if settings.tls_cert else None
        self.scheme = b"http" if self.identity is None else b"https"  # of clients
        self.room = settings.worker_concurrency or sys.maxsize  # exchanges at once, per worker
        self.line: WaitingRequests[Exchange] = WaitingRequests(settings.waiting)
        self.waiting_since = inf  # when the first of the line joined it
        self.bell = bell
        self.dial = Attempts(self)
        self.loop = Loop(_sweep_every(settings))
        self.budget = RetryBudget(settings.retry_budget / 100, self.loop.now)
        self.ejector = Ejector(settings.eject_after, settings.eject_first, settings.eject_longest)
        self.access_log = None if settings.access_log is None else AccessLog()
        self.crowd = (
            None
            if settings.client_connections is None
            else ConnectionLimit(settings.client_connections)
        )
        self.sticky = make_sticky(settings)
        whole = settings.total_timeout
        self.overdue = None if whole is None else TotalTimeout(self.loop, whole)
        self.table: Table = EMPTY
        self.clients: set[Client] = set()
        self.draining = False
        self.patience = inf  # while draining: for a client's next request to arrive
        self.refused = 0  # requests that found no worker
        self.unshaken = 0  # clients that did not get through the TLS handshake
        self.own: dict[int, int] = {}  # answers of our own, by status
        self._offered: Table = EMPTY
        self._replaced = False
        self._stops = 0
        self._end = inf  # while draining: of all that is open
        self._waker = Waker(self.loop, self)
        self._listeners = [Listener(self, listener)]

    def accept_from(self, listener: socket.socket) -> None:
        """Take clients from one more socket; before `run`."""
        self._listeners.append(Listener(self, listener))

    # From any thread

    def offer(self, table: Table) -> None:
        """Serve from this table from now on; the bell rings when that is so."""
        self._offered = table
        self._waker.wake()

    def stop(self) -> None:
        """End when the open exchanges have ended; asked again: at once."""
        self._stops += 1
        self._waker.wake()

    def replace(self) -> None:
        """Others serve the port: end when the clients that are here have."""
        self._replaced = True
        self._waker.wake()

    # In the data thread

    def run(self) -> None:
        """Serve until stopped."""
        self.woken()
        try:
            self.loop.run()
        finally:
            for client in list(self.clients):
                client.abort()
            self.loop.close()

    def woken(self) -> None:
        table = self._offered
        if table is not self.table:
            self._serve_from(table)
        if self._stops > 1:
            self._cut_off()
        elif self._stops:
            self._drain(HURRIED)
        elif self._replaced:
            self._drain(UNHURRIED)

    def expired(self) -> None:
        """The time for open exchanges is almost over, or is over."""
        if self._end > self.loop.now:
            dismiss(self.loop)
            self._waker.deadline = self._end
        else:
            self._cut_off()

    def _cut_off(self) -> None:
        if self.clients:
            log.warning("%d clients are cut off by the stop", len(self.clients))
        self.loop.running = False

    def stand_in_line(self, exchange: Exchange, since: float) -> bool:
        """Let an exchange wait for a worker with room; False when too many do.

        Whether there is room is looked at after every round of events, of which there is one per
        sweep at least: what made room, the end of an exchange, of an ejection or a new table,
        need not be known.
        """
        if not self.line.join(exchange.asker, exchange, since):
            return False
        self.loop.chore = self.serve_line
        self.waiting_since = min(since, self.waiting_since)
        return True

    def serve_line(self) -> None:
        """Begin those that a worker has room for; send away those that waited too long."""
        line = self.line
        for exchange in line.late(self.loop.now - self.settings.waiting_time):
            exchange.on_wait_over()
        for _ in range(len(line)):  # at most once each: one that fails at once may come back
            if not line or not self._has_room():
                break
            line.next().on_turn()
        self.waiting_since = line.oldest if line else inf
        if not line:
            self.loop.chore = None

    def _has_room(self) -> bool:
        """An empty table has, so that nobody waits for a worker that may never come."""
        now, room, serving = self.loop.now, self.room, self.table.serving
        return not serving or any(
            worker.tally.inflight < room and worker.record.until <= now for worker in serving
        )

    def measured(self, tally: Tally, seconds: float, line: int) -> None:
        """A worker took so long to answer a request that joined a line of so many (`gauge`)."""
        if self.gauge is None:
            return
        known = tally.seen
        if self.paced:
            by_pace(tally, seconds, line, self.loop.now)
        else:
            self.gauge(tally, seconds, line, self.loop.now)
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

    def admit(self, sock: socket.socket, peer: str) -> None:
        """A client has come."""
        client = Client(self, sock, peer)
        self.clients.add(client)
        if self.crowd is not None:
            self.crowd.admit(client)

    def client_left(self, client: Client) -> None:
        """A connection ended: there may be room for another, or nothing left to wait for."""
        self.clients.discard(client)
        if self.crowd is not None:
            self.crowd.left(client)
        if self.overdue is not None:
            self.overdue.left(client)
        if not self.draining:
            for listener in self._listeners:
                listener.resume()
        elif not self.clients:
            self.loop.running = False

    def _serve_from(self, table: Table) -> None:
        for worker in self.table.serving - table.serving:
            worker.leave()
        for worker in table.serving:
            worker.serving = True
        if table.serving != self.table.serving:
            self.ejector.fleet([worker.record for worker in table.serving])
        if self.sticky is not None:
            self.sticky.serve(table.serving)
        self.table = table
        if table.closing:
            dismiss(self.loop, table.closing)
        if table.ended:
            break_vanished(self.loop, table.ended)
        self.bell.ring()

    def _drain(self, patience: float) -> None:
        """Asked again, in more of a hurry, open exchanges still have the time they had."""
        if not self.draining:
            self._leave()
        if patience < self.patience:
            self.patience = patience
            for client in list(self.clients):
                client.hasten()
        if not self.clients:
            self.loop.running = False

    def _leave(self) -> None:
        for listener in self._listeners:
            listener.leave()
        self.draining = True
        log.info("stopping: %d clients have %g s", len(self.clients), self.settings.drain)
        drain = self.settings.drain
        self._end = self.loop.now + drain
        self._waker.deadline = self._end - min(NOTICE, drain / 2)


def _sweep_every(limits: Gateway) -> float:
    """A quarter of the shortest limit: limits are kept to within that much."""
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
