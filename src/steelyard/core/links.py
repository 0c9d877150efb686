"""Links: what each balancer last reported, and so whether a worker in SUNDOWN still has work.

A worker has drained when every balancer has seen the queue that shows the worker in SUNDOWN (until
then a balancer may pick it again) and no balancer has an open exchange with it. A balancer whose
link broke may still be serving, so the fleet waits for it for a while (`patience`).
"""

from __future__ import annotations

from dataclasses import dataclass, field

from steelyard.core.report import Report


@dataclass(slots=True)
class Link:
    """What one balancer last reported."""

    version: int = -1  # of the queue in use; -1: none, or a queue of another agent
    inflight: dict[str, int] = field(default_factory=dict)  # open exchanges, by worker
    tunnels: dict[str, int] = field(default_factory=dict)  # how many of them are tunnels
    waiting: int = 0  # requests that wait for a worker
    wait_seconds: float = 0.0  # the longest of their waits
    lost_at: float | None = None  # when the link broke; None: it is up


@dataclass(frozen=True, slots=True)
class Refusal:
    """A balancer that serves another application, and tries again every few seconds."""

    application: str
    at: float


@dataclass(slots=True)
class Links:
    """The links of all balancers."""

    epoch: str
    patience: float = 10.0  # seconds until a lost balancer is taken for dead
    by_name: dict[str, Link] = field(default_factory=dict)
    refusals: dict[str, Refusal] = field(default_factory=dict)  # by the balancer's name
    completed: int = 0  # requests answered, failed or refused, by all reports so far

    def join(self, balancer: str) -> None:
        self.by_name.setdefault(balancer, Link()).lost_at = None

    def lose(self, balancer: str, now: float) -> None:
        if balancer in self.by_name:
            self.by_name[balancer].lost_at = now

    def refuse(self, balancer: str, application: str, now: float) -> None:
        """Forget a balancer of another application: no worker of ours gets a request from it."""
        self.by_name.pop(balancer, None)
        self.refusals[balancer] = Refusal(application, now)

    def report(self, report: Report) -> None:
        self.completed += report.refused + sum(t.requests for t in report.workers.values())
        if report.farewell:
            self.by_name.pop(report.balancer, None)
            return
        link = self.by_name.setdefault(report.balancer, Link())
        link.lost_at = None
        link.version = report.version if report.epoch == self.epoch else -1
        if link.version >= 0:
            self.refusals.pop(report.balancer, None)
        link.inflight = {name: t.inflight for name, t in report.workers.items() if t.inflight}
        link.tunnels = {name: t.tunnels for name, t in report.workers.items() if t.tunnels}
        link.waiting, link.wait_seconds = report.waiting, report.wait_seconds

    def expire(self, now: float) -> None:
        """Forget the balancers that have been lost, or have not come to refuse, for too long."""
        for name, link in list(self.by_name.items()):
            if link.lost_at is not None and now - link.lost_at >= self.patience:
                del self.by_name[name]
        for name, refusal in list(self.refusals.items()):
            if now - refusal.at >= self.patience:
                del self.refusals[name]

    def open_exchanges(self, worker: str) -> int:
        """How many exchanges a worker has open at all balancers: C(t) of the paper."""
        return sum(link.inflight.get(worker, 0) for link in self.by_name.values())

    def open_tunnels(self, worker: str) -> int:
        """How many of a worker's open exchanges are tunnels, which may last for hours."""
        return sum(link.tunnels.get(worker, 0) for link in self.by_name.values())

    def open(self) -> int:
        """The exchanges with all workers, and the requests that wait for a worker."""
        return sum(sum(link.inflight.values()) + link.waiting for link in self.by_name.values())

    def wait(self) -> float:
        """The longest time that a request has waited for a worker, as last reported."""
        return max(
            (link.wait_seconds for link in self.by_name.values() if link.waiting), default=0.0
        )

    def released(self, worker: str, version: int) -> bool:
        """Whether no balancer has an exchange with the worker, nor can pick it again."""
        return all(
            link.version >= version and not link.inflight.get(worker)
            for link in self.by_name.values()
        )
