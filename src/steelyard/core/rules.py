"""The rules of a fleet: every number its decisions depend on, fixed for its life but for the
limits, which an operator may change."""

from __future__ import annotations

from dataclasses import dataclass, field

from steelyard.core.lifecycle import Cuts
from steelyard.core.meter import Rating


@dataclass(frozen=True, slots=True)
class Rules:
    """Times in seconds."""

    application: str
    source: str  # the command line or image, for the record
    min: int
    max: int
    rating: Rating
    cuts: Cuts = field(default_factory=Cuts)
    patience: int = 2  # failed probes in a row that take a worker out of the ring
    boot: float = 30.0
    hung: float = 20.0
    drain: float = 30.0
    tunnel_drain: float = 3600.0  # in place of `drain` for a worker with open tunnels
    notice: float = 5.0  # before a drain deadline, for balancers to end tunnels politely
    dwell_down: float = 30.0
    backoff: float = 1.0
    backoff_max: float = 60.0
    stable: float = 10.0
    grace: float = 10.0  # how long a stop waits for a runtime that is away
    link_patience: float = 10.0  # how long lost balancers, and those not yet back, are waited for
