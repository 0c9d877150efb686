"""Events: what can happen to a fleet. An event is a fact, reported once; it decides nothing."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from steelyard.core.record import WorkerRecord
from steelyard.core.report import Report
from steelyard.core.usage import Allowance, Sample


@dataclass(frozen=True, slots=True)
class Started:
    """The runtime has started a worker, which boots now."""

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
    """One of our workers that the runtime sees running."""

    worker: str
    host: str
    port: int
    allowance: Allowance = field(default_factory=Allowance)
    node: str = ""
    handle: str = ""


@dataclass(frozen=True, slots=True)
class Reconciled:
    """The workers that really run, and those that the store remembers, as read at time `at`."""

    at: float
    running: tuple[Found, ...]
    records: tuple[WorkerRecord, ...] = ()


@dataclass(frozen=True, slots=True)
class Sampled:
    """The counters of the workers were read."""

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
    """A balancer sent a report."""

    report: Report


@dataclass(frozen=True, slots=True)
class BalancerJoined:
    """A balancer connected; it has not sent a report yet."""

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
    """The runtime cannot be reached, so it is unknown whether its workers run."""

    reason: str


@dataclass(frozen=True, slots=True)
class RuntimeFound:
    """The runtime answers again. A `Reconciled` with the workers that run came just before."""


@dataclass(frozen=True, slots=True)
class DrainAsked:
    """An operator asked for a worker to be drained and stopped."""

    worker: str


@dataclass(frozen=True, slots=True)
class LimitsAsked:
    """An operator asked for other limits."""

    min: int
    max: int


@dataclass(frozen=True, slots=True)
class CloseAsked:
    """The agent stops and its workers with it; with `at_once` it waits for no absent runtime."""

    at_once: bool = False


@dataclass(frozen=True, slots=True)
class Tick:
    """A tick of the clock: deadlines are checked and the scaling policy is consulted."""


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
