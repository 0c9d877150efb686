"""Plane: the data plane of one process. All of it runs in one thread.

The control thread reaches in at two points only, each a swapped reference and a wake-up:
`offer` (a new table) and `stop`.
"""

from __future__ import annotations

import logging
import secrets
import socket
from math import inf

from steelyard.balancer.client import Client
from steelyard.balancer.counters import Bell
from steelyard.balancer.crowd import Crowd
from steelyard.balancer.journal import Journal
from steelyard.balancer.listener import Listener
from steelyard.balancer.loop import Loop, Waker
from steelyard.balancer.origin import Manner
from steelyard.balancer.overdue import Overdue
from steelyard.balancer.table import EMPTY, Table
from steelyard.config.settings import Gateway

log = logging.getLogger(__name__)


class Plane:
    """What clients and exchanges share: the loop, the limits and the present table."""

    __slots__ = (
        "_listener",
        "_offered",
        "_stops",
        "_waker",
        "bell",
        "body_limit",
        "clients",
        "crowd",
        "draining",
        "greeted",
        "journal",
        "limits",
        "loop",
        "manner",
        "overdue",
        "refused",
        "table",
    )

    def __init__(self, limits: Gateway, listener: socket.socket, bell: Bell) -> None:
        self.limits = limits
        self.body_limit = -1 if limits.body is None else limits.body
        trusted = limits.trusted_proxies
        self.manner = Manner(limits.forwarded, trusted, secrets.token_hex(6).encode())
        self.greeted = limits.proxy_protocol == "on"  # by trusted proxies
        self.journal = None if limits.access_log is None else Journal()
        self.bell = bell
        self.loop = Loop(_sweep_every(limits))
        self.crowd = None if limits.client_connections is None else Crowd(limits.client_connections)
        whole = limits.total_timeout
        self.overdue = None if whole is None else Overdue(self.loop, whole)
        self.table: Table = EMPTY
        self.clients: set[Client] = set()
        self.draining = False
        self.refused = 0  # requests that found no worker
        self._offered: Table = EMPTY
        self._stops = 0
        self._waker = Waker(self.loop, self)
        self._listener = Listener(self, listener)

    # From any thread

    def offer(self, table: Table) -> None:
        """Serve from this table from now on; the bell rings when that is so."""
        self._offered = table
        self._waker.wake()

    def stop(self) -> None:
        """End when the open exchanges have ended; asked again: at once."""
        self._stops += 1
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
            self.expired()
        elif self._stops and not self.draining:
            self._drain()

    def expired(self) -> None:
        """The time for open exchanges is over."""
        if self.clients:
            log.warning("%d clients are cut off by the stop", len(self.clients))
        self.loop.running = False

    def client_left(self, client: Client) -> None:
        """A connection ended: there may be room for another, or nothing left to wait for."""
        self.clients.discard(client)
        if self.crowd is not None:
            self.crowd.left(client)
        if self.overdue is not None:
            self.overdue.left(client)
        if not self.draining:
            self._listener.resume()
        elif not self.clients:
            self.loop.running = False

    def _serve_from(self, table: Table) -> None:
        for worker in self.table.serving - table.serving:
            worker.leave()
        for worker in table.serving:
            worker.serving = True
        self.table = table
        self.bell.ring()

    def _drain(self) -> None:
        self._listener.leave()
        self.draining = True
        log.info("stopping: %d clients have %g s", len(self.clients), self.limits.drain)
        self._waker.deadline = self.loop.now + self.limits.drain
        for client in list(self.clients):
            client.leave_if_idle()
        if not self.clients:
            self.loop.running = False


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
        limits.total_timeout or inf,
    )
    return min(0.5, max(0.05, shortest / 4))
