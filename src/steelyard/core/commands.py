"""What a fleet wants done. The agent executes these and tells the outcome as events."""

from __future__ import annotations

from dataclasses import dataclass

from steelyard.core.queue import Queue
from steelyard.core.record import LimitsRecord, WorkerRecord


@dataclass(frozen=True, slots=True)
class Start:
    """Start a worker under this name."""

    worker: str


@dataclass(frozen=True, slots=True)
class Stop:
    """Stop a worker; it has nothing left to do, or must not go on."""

    worker: str


@dataclass(frozen=True, slots=True)
class Publish:
    """Send the queue to all balancers."""

    queue: Queue


@dataclass(frozen=True, slots=True)
class Save:
    """Keep a worker's record."""

    record: WorkerRecord


@dataclass(frozen=True, slots=True)
class Forget:
    """Delete a worker's record."""

    worker: str


@dataclass(frozen=True, slots=True)
class SaveLimits:
    """Keep the limits set at run time."""

    limits: LimitsRecord


@dataclass(frozen=True, slots=True)
class Decide:
    """Log a decision, with its reason."""

    at: float
    action: str  # start, replace, up, down, drain, stop, limits, adopt, hold, resume, leave
    workers: tuple[str, ...]
    reason: str


Change = Save | Forget | SaveLimits  # of what the store keeps
Command = Start | Stop | Publish | Change | Decide
