"""Reporter: makes reports for the agent from the counts since the last report that was sent."""

from __future__ import annotations

from time import monotonic
from typing import NamedTuple

from steelyard.balancer.downstream.front import Front
from steelyard.balancer.pool.counters import Tally
from steelyard.balancer.pool.table import Directory
from steelyard.balancer.pool.worker import Worker
from steelyard.core.report import BOUNDS, Report, Traffic


class Totals(NamedTuple):
    """The counts of a tally at one moment."""

    requests: int = 0
    failures: int = 0
    bytes: int = 0
    seconds: float = 0.0
    histogram: tuple[int, ...] = (0,) * (len(BOUNDS) + 1)


class Draft(NamedTuple):
    """A report, and the counts from which the next report counts once this one is sent."""

    report: Report
    totals: dict[Worker, Totals]
    refused: int
    unshaken: int


class Reporter:
    """Remembers the reported counts. Counts of a report that was not sent go into the next."""

    def __init__(self, balancer: str, front: Front, directory: Directory) -> None:
        self._balancer = balancer
        self._front = front
        self._pool = front.pool
        self._directory = directory
        self._reported: dict[Worker, Totals] = {}
        self._refused = 0
        self._unshaken = 0

    def draft(self, farewell: bool = False) -> Draft:
        """Make a report of the present counts; nothing counts as reported until `sent`."""
        # Read the table first: counts that are read after it are at least as new as its version.
        table = self._pool.table
        totals: dict[Worker, Totals] = {}
        traffic: dict[str, Traffic] = {}
        for worker in self._directory:
            inflight, tunnels = worker.tally.inflight, worker.tally.tunnels
            totals[worker] = now = _totals(worker.tally)
            new = _delta(now, self._reported.get(worker, Totals()), inflight, tunnels)
            if self._directory.listed(worker) or inflight or new.requests:
                before = traffic.get(worker.name)
                traffic[worker.name] = new if before is None else _sum(before, new)
        refused, unshaken = self._pool.refused, self._front.unshaken
        report = Report(
            balancer=self._balancer,
            epoch=table.epoch,
            version=table.version,
            workers=traffic,
            waiting=len(self._pool.waiting),
            wait_seconds=max(0.0, monotonic() - self._pool.waiting_since),
            refused=refused - self._refused,
            unshaken=unshaken - self._unshaken,
            farewell=farewell,
        )
        return Draft(report, totals, refused, unshaken)

    def sent(self, draft: Draft) -> None:
        """Note that the draft was sent: count from there, and forget workers that left the queue
        and have no exchange and no unreported count."""
        self._reported = draft.totals
        self._refused = draft.refused
        self._unshaken = draft.unshaken
        if self._pool.table is not self._directory.latest:
            return  # the data thread may still choose a worker that the latest queue omits
        for worker, totals in list(draft.totals.items()):
            done = not worker.tally.inflight and totals == _totals(worker.tally)
            if done and not self._directory.listed(worker):
                self._directory.forget(worker)
                del self._reported[worker]


def _totals(tally: Tally) -> Totals:
    return Totals(
        tally.requests,
        tally.failures,
        tally.sent + tally.received,
        tally.seconds,
        tuple(tally.histogram),
    )


def _delta(now: Totals, before: Totals, inflight: int, tunnels: int) -> Traffic:
    return Traffic(
        inflight=inflight,
        tunnels=tunnels,
        requests=now.requests - before.requests,
        failures=now.failures - before.failures,
        bytes=now.bytes - before.bytes,
        seconds=max(0.0, now.seconds - before.seconds),
        histogram=tuple(
            new - old for new, old in zip(now.histogram, before.histogram, strict=True)
        ),
    )


def _sum(one: Traffic, other: Traffic) -> Traffic:
    return Traffic(
        inflight=one.inflight + other.inflight,
        tunnels=one.tunnels + other.tunnels,
        requests=one.requests + other.requests,
        failures=one.failures + other.failures,
        bytes=one.bytes + other.bytes,
        seconds=one.seconds + other.seconds,
        histogram=tuple(a + b for a, b in zip(one.histogram, other.histogram, strict=True)),
    )
