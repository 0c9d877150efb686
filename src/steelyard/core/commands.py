"""Commands: what a fleet wants done. The agent executes them and reports the outcome as events."""

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
    """Stop a worker that has nothing left to do, or must not go on."""

    worker: str


@dataclass(frozen=True, slots=True)
class Publish:
    """Send the queue to all balancers."""

    queue: Queue


@dataclass(frozen=True, slots=True)
class Save:
    """Write a worker's record to the store."""

    record: WorkerRecord


@dataclass(frozen=True, slots=True)
class Forget:
    """Delete a worker's record from the store."""

    worker: str


@dataclass(frozen=True, slots=True)
class SaveLimits:
    """Write the limits set at run time to the store."""

    limits: LimitsRecord


@dataclass(frozen=True, slots=True)
class Decide:
    """Log a decision with its reason."""

    at: float
    action: str  # start, replace, up, down, drain, stop, limits, adopt, hold, resume, leave
    workers: tuple[str, ...]
    reason: str


Change = Save | Forget | SaveLimits  # the commands that change the store
Command = Start | Stop | Publish | Change | Decide
