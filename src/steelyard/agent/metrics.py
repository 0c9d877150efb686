"""Prometheus metrics of an application, made from the reports and the status on each scrape."""

from __future__ import annotations

from collections.abc import Container, Iterator
from dataclasses import dataclass, field

from prometheus_client import CollectorRegistry, generate_latest
from prometheus_client.core import (
    CounterMetricFamily,
    GaugeMetricFamily,
    HistogramMetricFamily,
    Metric,
)
from prometheus_client.registry import Collector

from steelyard.core.lifecycle import State
from steelyard.core.report import BOUNDS, Report
from steelyard.core.status import FleetStatus


@dataclass(slots=True)
class Total:
    """The sum of what a worker did for all balancers."""

    requests: int = 0
    failures: int = 0
    bytes: int = 0
    seconds: float = 0.0
    histogram: list[int] = field(default_factory=lambda: [0] * (len(BOUNDS) + 1))


@dataclass(slots=True)
class Metrics:
    """Adds up reports, without workers that have ended, so that labels do not pile up."""

    workers: dict[str, Total] = field(default_factory=dict)
    refused: int = 0
    unshaken: int = 0
    refused_events: int = 0  # events that raised an exception in the fleet

    def add(self, report: Report, known: Container[str]) -> None:
        """Add a report; workers that are not `known` have ended, and would bring labels back."""
        self.refused += report.refused
        self.unshaken += report.unshaken
        for name, traffic in report.workers.items():
            if name not in known:
                continue
            total = self.workers.setdefault(name, Total())
            total.requests += traffic.requests
            total.failures += traffic.failures
            total.bytes += traffic.bytes
            total.seconds += traffic.seconds
            for index, count in enumerate(traffic.histogram):
                total.histogram[index] += count

    def forget(self, worker: str) -> None:
        self.workers.pop(worker, None)

    def expose(self, status: FleetStatus) -> bytes:
        """The text that Prometheus scrapes."""
        registry = CollectorRegistry()
        registry.register(_Snapshot(self, status))
        return generate_latest(registry)


class _Snapshot(Collector):
    def __init__(self, metrics: Metrics, status: FleetStatus) -> None:
        self._metrics = metrics
        self._status = status

    def collect(self) -> Iterator[Metric]:
        yield from self._fleet()
        yield from self._workers()
        yield from self._traffic()

    def _fleet(self) -> Iterator[Metric]:
        states = GaugeMetricFamily("steelyard_workers", "Workers by state", labels=["state"])
        for state in State:
            count = sum(worker.state is state for worker in self._status.workers)
            states.add_metric([state], count)
        yield states
        yield _gauge("steelyard_workers_target", "Target number of workers", self._status.target)
        yield _gauge("steelyard_workers_min", "Fewest workers", self._status.min)
        yield _gauge("steelyard_workers_max", "Most workers", self._status.max)
        yield _gauge("steelyard_start_failures", "Failed starts in a row", self._status.failures)
        yield _gauge(
            "steelyard_runtime_away_seconds",
            "Seconds for which the runtime has been unreachable; 0 while it answers",
            self._status.away_seconds,
        )
        yield _count(
            "steelyard_runtime_losses",
            "How many times the runtime became unreachable",
            self._status.losses,
        )
        connected = sum(balancer.connected for balancer in self._status.balancers)
        yield _gauge("steelyard_balancers", "Balancers connected", connected)
        refused, unshaken = self._metrics.refused, self._metrics.unshaken
        yield _count("steelyard_refused", "Requests refused as no worker was free", refused)
        yield _count("steelyard_tls_failures", "TLS handshakes that failed", unshaken)
        yield _count(
            "steelyard_refused_events",
            "Events that the agent could not handle because of a bug; its log has each of them",
            self._metrics.refused_events,
        )

    def _workers(self) -> Iterator[Metric]:
        score = GaugeMetricFamily("steelyard_worker_score", "0…100, 100 is best", labels=["worker"])
        busy = GaugeMetricFamily("steelyard_worker_inflight", "Open exchanges", labels=["worker"])
        ready = GaugeMetricFamily("steelyard_worker_ready", "1 when ready", labels=["worker"])
        for worker in self._status.workers:
            score.add_metric([worker.name], worker.score)
            busy.add_metric([worker.name], worker.inflight)
            ready.add_metric([worker.name], worker.ready)
        yield from (score, busy, ready)

    def _traffic(self) -> Iterator[Metric]:
        names = ["worker"]
        requests = CounterMetricFamily("steelyard_requests", "Requests sent", labels=names)
        failures = CounterMetricFamily("steelyard_failures", "Requests failed", labels=names)
        size = CounterMetricFamily("steelyard_bytes", "Bytes in both directions", labels=names)
        times = HistogramMetricFamily(
            "steelyard_response_seconds", "Time to the first byte of the answer", labels=names
        )
        for name, total in self._metrics.workers.items():
            requests.add_metric([name], total.requests)
            failures.add_metric([name], total.failures)
            size.add_metric([name], total.bytes)
            times.add_metric([name], _cumulative(total.histogram), total.seconds)
        yield from (requests, failures, size, times)


def _gauge(name: str, text: str, value: float) -> GaugeMetricFamily:
    return GaugeMetricFamily(name, text, value=value)


def _count(name: str, text: str, value: int) -> CounterMetricFamily:
    return CounterMetricFamily(name, text, value=value)


def _cumulative(histogram: list[int]) -> list[tuple[str, float]]:
    buckets, total = [], 0
    for bound, count in zip([*map(str, BOUNDS), "+Inf"], histogram, strict=True):
        total += count
        buckets.append((bound, float(total)))
    return buckets
