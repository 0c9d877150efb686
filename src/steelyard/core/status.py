"""The status: what the agent tells people about a fleet. Ages and waits are in seconds."""

from __future__ import annotations

from pydantic import BaseModel, ConfigDict

from steelyard.core.fleet import Fleet
from steelyard.core.lifecycle import State
from steelyard.core.worker import Worker


class _Part(BaseModel):
    model_config = ConfigDict(frozen=True)


class WorkerStatus(_Part):
    """One worker."""

    name: str
    address: str
    node: str = ""  # the machine it runs on; empty if there is only one
    handle: str = ""  # its pid, or the id of its container or service; empty until it runs
    state: State
    ready: bool
    default: bool
    score: float
    utilization: float
    cpu: float | None  # percent of its allowance; None until measured twice
    memory: float | None  # percent of its limit, or of the machine
    network: float | None  # MB/s
    availability: float | None
    inflight: int
    age: float
    cpu_limit: float | None
    memory_limit: int | None
    problem: str


class DecisionStatus(_Part):
    """One decision. Lists of decisions have the newest last."""

    ago: float
    action: str
    workers: tuple[str, ...]
    reason: str


class BalancerStatus(_Part):
    """One balancer process."""

    name: str
    connected: bool
    version: int
    inflight: int
    waiting: int


class FleetStatus(_Part):
    """The fleet of one application."""

    application: str
    policy: str
    min: int
    max: int
    configured: tuple[int, int]  # the limits that `scale --reset` goes back to
    target: int
    verdict: str
    trouble: str  # why workers fail to start; empty when they do not
    culprit: str  # the worker whose log tells more
    failures: int
    next_try: float
    ever_ready: bool
    closing: bool
    away: str = ""  # for how long and why the runtime is unreachable; empty while it answers
    away_seconds: float = 0.0
    losses: int = 0  # how many times the runtime was away
    queue_version: int
    workers: list[WorkerStatus]
    balancers: list[BalancerStatus]
    decisions: list[DecisionStatus]
    notes: list[str] = []  # anything else that is wrong: settings, the store, the supervisor

    @property
    def ready(self) -> int:
        """How many workers are ready and not leaving."""
        return sum(worker.ready and worker.state not in _LEAVING for worker in self.workers)

    @property
    def known(self) -> bool:
        """Whether every connected balancer, and there is one, has reported the newest queue."""
        versions = [one.version for one in self.balancers if one.connected]
        return bool(versions) and min(versions) >= self.queue_version


_LEAVING = {State.SUNDOWN, State.SHUTDOWN}


def status(fleet: Fleet, now: float) -> FleetStatus:
    """The status of a fleet at time `now`."""
    queue = fleet.publication.queue
    defaults = fleet.roster.defaults(fleet.limits.min)
    return FleetStatus(
        application=fleet.rules.application,
        policy=fleet.policy.name,
        min=fleet.limits.min,
        max=fleet.limits.max,
        configured=fleet.limits.configured,
        target=fleet.target,
        verdict=fleet.verdict.reason,
        trouble=fleet.restarts.trouble,
        culprit=fleet.restarts.culprit,
        failures=fleet.restarts.failures,
        next_try=max(0.0, fleet.restarts.next_try - now),
        ever_ready=fleet.ever_ready,
        closing=fleet.closing,
        away=fleet.absence.describe(now),
        away_seconds=fleet.absence.seconds(now),
        losses=fleet.absence.times,
        queue_version=-1 if queue is None else queue.version,
        workers=[
            _worker(fleet, w, now, default=w.name in defaults)
            for w in sorted(fleet.roster, key=lambda w: w.sequence)
        ],
        balancers=_balancers(fleet),
        decisions=[
            DecisionStatus(ago=now - d.at, action=d.action, workers=d.workers, reason=d.reason)
            for d in fleet.decisions
        ],
        notes=_refusals(fleet),
    )


def _worker(fleet: Fleet, worker: Worker, now: float, *, default: bool) -> WorkerStatus:
    usage, parts = worker.meter.usage, worker.meter.parts
    return WorkerStatus(
        name=worker.name,
        address=f"{worker.host}:{worker.port}" if worker.started else "",
        node=worker.node,
        handle=worker.handle,
        state=worker.state,
        ready=worker.ready,
        default=default,
        score=round(worker.meter.score, 1),
        utilization=round(worker.meter.utilization, 1),
        cpu=None if usage is None else round(usage.cpu, 1),
        memory=None if usage is None else round(usage.memory, 2),
        network=worker.meter.rate,
        availability=None if parts is None else round(parts.availability, 1),
        inflight=fleet.links.open_exchanges(worker.name),
        age=now - worker.born,
        cpu_limit=worker.allowance.cpus,
        memory_limit=worker.allowance.memory,
        problem=worker.problem or worker.why_leaving,
    )


def _refusals(fleet: Fleet) -> list[str]:
    return [
        f"balancer {name} follows this agent, but serves the application {refusal.application!r}, "
        f"not {fleet.rules.application!r}, and refuses these workers; check its --agent and --name"
        for name, refusal in sorted(fleet.links.refusals.items())
    ]


def _balancers(fleet: Fleet) -> list[BalancerStatus]:
    return [
        BalancerStatus(
            name=name,
            connected=link.lost_at is None,
            version=link.version,
            inflight=sum(link.inflight.values()),
            waiting=link.waiting,
        )
        for name, link in sorted(fleet.links.by_name.items())
    ]
