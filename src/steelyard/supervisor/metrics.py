"""Prometheus metrics of all balancers of a gateway, made from their accounts on each scrape.

docs/metrics.md lists them. They have a prefix of their own, because the metrics of the agent
(`agent/metrics.py`) are those of an application, whose balancers may belong to several gateways.
"""

from __future__ import annotations

from collections.abc import Iterator

from prometheus_client import CollectorRegistry
from prometheus_client.core import (
    CounterMetricFamily,
    GaugeMetricFamily,
    HistogramMetricFamily,
    InfoMetricFamily,
    Metric,
)
from prometheus_client.exposition import choose_encoder
from prometheus_client.registry import Collector

import steelyard
from steelyard.core.account import Done
from steelyard.core.accounts import Accounts
from steelyard.core.report import BOUNDS

PREFIX = "steelyard_gateway_"
WORKER = ["worker"]


def expose(accounts: Accounts, policy: str, accept: str) -> tuple[bytes, str]:
    """The text and its content type, which is OpenMetrics if `accept` asks for it."""
    registry = CollectorRegistry()
    registry.register(_Snapshot(accounts, policy))
    encode, kind = choose_encoder(accept)
    return encode(registry), kind


class _Snapshot(Collector):
    def __init__(self, accounts: Accounts, policy: str) -> None:
        self._accounts = accounts
        self._policy = policy

    def collect(self) -> Iterator[Metric]:
        yield from self._gateway()
        yield from self._own()
        yield from self._now()
        yield from _done(self._accounts.done())

    def _gateway(self) -> Iterator[Metric]:
        about = {"policy": self._policy, "version": steelyard.__version__}
        yield InfoMetricFamily(PREFIX.rstrip("_"), "Policy and version", value=about)
        live = self._accounts.live.values()
        yield _gauge("processes", "Balancer processes alive", len(live))
        yield _counter("starts", "Balancer processes ever started", self._accounts.started)
        yield _gauge(
            "queue_version",
            "Version of the queue in use, the oldest of all processes",
            min((account.version for account in live), default=0),
        )
        yield _gauge("connections", "Clients connected", sum(each.connections for each in live))
        yield _gauge(
            "waiting", "Requests that wait for a worker", sum(each.waiting for each in live)
        )

    def _own(self) -> Iterator[Metric]:
        own = self._accounts.own()
        answers = _counters("own_answers", "Answers that no worker gave, by status", ["status"])
        for status, many in own.answers.items():
            answers.add_metric([str(status)], many)
        yield answers
        yield _counter("refused", "Requests answered 503 as no worker was free", own.refused)
        yield _counter("tls_failures", "TLS handshakes that failed", own.unshaken)
        yield _counter("retries", "Attempts of a request at another worker", own.retries)
        yield _counter("cpu_seconds", "CPU time of the balancers, user and system", own.cpu)

    def _now(self) -> Iterator[Metric]:
        busy = GaugeMetricFamily(PREFIX + "in_flight", "Open exchanges", labels=WORKER)
        out = GaugeMetricFamily(
            PREFIX + "ejected", "Balancer processes that have ejected the worker", labels=WORKER
        )
        works = self._accounts.works()
        for name in sorted({work.name for work in works}):
            own = [work for work in works if work.name == name]
            busy.add_metric([name], sum(work.inflight for work in own))
            out.add_metric([name], sum(work.ejected for work in own))
        yield from (busy, out)


def _done(workers: dict[str, Done]) -> Iterator[Metric]:
    answers = _counters("answers", "Answers, by class of status", [*WORKER, "class"])
    failures = _counters("failures", "Attempts that failed", WORKER)
    ejections = _counters("ejections", "Times the worker was ejected for failures", WORKER)
    sent = _counters("sent_bytes", "Bytes sent to the worker", WORKER)
    received = _counters("received_bytes", "Bytes received from the worker", WORKER)
    times = HistogramMetricFamily(
        PREFIX + "answer_seconds", "Time to the first byte of the answer", labels=WORKER
    )
    for name, done in workers.items():
        for digit, many in enumerate(done.statuses):
            # Classes that queries ask for are always there: a missing series has no rate.
            if many or digit in (2, 4, 5):
                answers.add_metric([name, f"{digit}xx"], many)
        failures.add_metric([name], done.failures)
        ejections.add_metric([name], done.ejections)
        sent.add_metric([name], done.sent)
        received.add_metric([name], done.received)
        times.add_metric([name], _cumulative(done.histogram), done.seconds)
    yield from (answers, failures, ejections, sent, received, times)


def _gauge(name: str, text: str, value: float) -> GaugeMetricFamily:
    return GaugeMetricFamily(PREFIX + name, text, value=value)


def _counter(name: str, text: str, value: float) -> CounterMetricFamily:
    return CounterMetricFamily(PREFIX + name, text, value=value)


def _counters(name: str, text: str, labels: list[str]) -> CounterMetricFamily:
    return CounterMetricFamily(PREFIX + name, text, labels=labels)


def _cumulative(histogram: tuple[int, ...]) -> list[tuple[str, float]]:
    buckets, total = [], 0
    for bound, many in zip([*map(str, BOUNDS), "+Inf"], histogram, strict=True):
        total += many
        buckets.append((bound, float(total)))
    return buckets
