"""Dial: which worker an exchange tries, and which next when that one fails."""

from __future__ import annotations

from typing import TYPE_CHECKING

from steelyard.balancer.upstream import Upstream
from steelyard.balancer.worker import Worker

if TYPE_CHECKING:
    from steelyard.balancer.exchange import Exchange
    from steelyard.balancer.plane import Plane


class Dial:
    """The tries of one exchange: each at another worker, and all but the first on a fresh
    connection, since a second idle one of a restarted worker is as dead as the first."""

    __slots__ = ("_plane", "_tried")

    def __init__(self, plane: Plane) -> None:
        self._plane = plane
        self._tried: tuple[Worker, ...] = ()

    @property
    def tried(self) -> bool:
        """Whether any worker has failed this exchange."""
        return bool(self._tried)

    def first(self, exchange: Exchange, careful: bool) -> Upstream | None:
        """A connection to the worker that the policy chooses; None: there is none to be had."""
        worker = self._choose(exchange)
        if worker is None:
            return None
        upstream = worker.take(careful)
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
        self._tried += (worker,)
        if len(self._tried) > self._plane.limits.retries:
            return None
        other = self._untried()
        if other is None and failed.reused and worker.serving:
            other = worker
        return None if other is None else self._connect(other, exchange)

    def _connect(self, worker: Worker | None, exchange: Exchange) -> Upstream | None:
        limits = self._plane.limits
        while worker is not None:
            try:
                upstream = Upstream(self._plane.loop, worker, exchange)
            except OSError:
                worker.tally.failed_try()
                self._tried += (worker,)
                worker = self._untried() if len(self._tried) <= limits.retries else None
            else:
                upstream.deadline = self._plane.loop.now + limits.connect_timeout
                return upstream
        return None

    def _choose(self, exchange: Exchange) -> Worker | None:
        plane = self._plane
        choice = plane.table.choice
        if choice is None:
            return None
        return (choice.pick(exchange.asker) if plane.keyed else choice.pick()).worker

    def _untried(self) -> Worker | None:
        choice = self._plane.table.choice
        if choice is None:
            return None
        ring = choice.ring
        for _ in range(ring.size):
            worker = ring.pick()
            if worker not in self._tried:
                return worker
        return None
