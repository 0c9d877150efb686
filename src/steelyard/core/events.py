"""What can happen to a fleet. Each is a fact, told once, with nothing in it that decides."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from steelyard.core.record import WorkerRecord
from steelyard.core.report import Report
from steelyard.core.usage import Allowance, Sample


@dataclass(frozen=True, slots=True)
class Started:
    """The runtime has started a worker; it boots."""

    worker: str
    host: str
    port: int
    allowance: Allowance = field(default_factory=Allowance)
    node: str = ""
    handle: str = ""


@dataclass(frozen=True, slots=True)
class StartFailed:
    """The runtime could not start a worker at all."""

    worker: str
    reason: str


@dataclass(frozen=True, slots=True)
class Found:
    """A worker of ours that the runtime sees running."""

    worker: str
    host: str
    port: int
    allowance: Allowance = field(default_factory=Allowance)
    node: str = ""
    handle: str = ""


@dataclass(frozen=True, slots=True)
class Reconciled:
    """What really runs, and what the store remembers; read at `at`."""

    at: float
    running: tuple[Found, ...]
    records: tuple[WorkerRecord, ...] = ()


@dataclass(frozen=True, slots=True)
class Sampled:
    """Counters of the workers were read."""

    samples: Mapping[str, Sample]


@dataclass(frozen=True, slots=True)
class Probed:
    """A worker was asked whether it can serve."""

    worker: str
    ok: bool
    seconds: float
    problem: str = ""


@dataclass(frozen=True, slots=True)
class Reported:
    """A balancer told what it did."""

    report: Report


@dataclass(frozen=True, slots=True)
class BalancerJoined:
    """A balancer connected; it has not told anything yet."""

    balancer: str


@dataclass(frozen=True, slots=True)
class BalancerLost:
    """A balancer's link broke; it may still be serving."""

    balancer: str


@dataclass(frozen=True, slots=True)
class QueueRefused:
    """A balancer ended its link because it serves another application than this fleet's."""

    balancer: str
    application: str  # the one that it serves


@dataclass(frozen=True, slots=True)
class Exited:
    """A worker has ended."""

    worker: str
    reason: str


@dataclass(frozen=True, slots=True)
class StopFailed:
    """The runtime could not stop a worker, which may still run."""

    worker: str
    reason: str


@dataclass(frozen=True, slots=True)
class RuntimeLost:
    """The runtime cannot be asked: whether its workers run, nobody can tell."""

    reason: str


@dataclass(frozen=True, slots=True)
class RuntimeFound:
    """The runtime answers again; what it says runs was told just before."""


@dataclass(frozen=True, slots=True)
class DrainAsked:
    """An operator wants a worker gone."""

    worker: str


@dataclass(frozen=True, slots=True)
class LimitsAsked:
    """An operator wants other limits."""

    min: int
    max: int


@dataclass(frozen=True, slots=True)
class CloseAsked:
    """The agent stops, and its workers with it; `at_once`: nobody waits for a runtime."""

    at_once: bool = False


@dataclass(frozen=True, slots=True)
class Tick:
    """Time to decide."""


Event = (
    Started
    | StartFailed
    | Reconciled
    | Sampled
    | Probed
    | Reported
    | BalancerJoined
    | BalancerLost
    | QueueRefused
    | Exited
    | StopFailed
    | RuntimeLost
    | RuntimeFound
    | DrainAsked
    | LimitsAsked
    | CloseAsked
    | Tick
)
