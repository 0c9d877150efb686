"""The rules of a fleet: every number that its decisions depend on. They stay the same for the life
of the fleet, except for the limits, which an operator may change.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from steelyard.core.lifecycle import Cuts
from steelyard.core.meter import Rating


@dataclass(frozen=True, slots=True)
class Rules:
    """The numbers of one fleet; all times are in seconds."""

    application: str
    source: str  # the command line or image that workers run, for their records
    min: int
    max: int
    rating: Rating
    cuts: Cuts = field(default_factory=Cuts)
    patience: int = 2  # failed probes in a row that take a worker out of the ring
    boot: float = 30.0  # a worker that is not ready after this time has failed
    hung: float = 20.0  # a worker whose probes have failed for this time has failed
    drain: float = 30.0  # a worker in SUNDOWN is stopped after this time
    tunnel_drain: float = 3600.0  # in place of `drain` for a worker with open tunnels
    notice: float = 5.0  # before a drain deadline, in which balancers close tunnels in order
    dwell_down: float = 30.0  # how long a worker must be in LU before `step` may retire it
    backoff: float = 1.0  # delay after the first failed start
    backoff_max: float = 60.0  # the longest delay after a failed start
    stable: float = 10.0  # a worker that fails sooner after it was ready counts as a failed start
    grace: float = 10.0  # how long a close waits for a runtime that is away
    link_patience: float = 10.0  # how long to wait for balancers that are lost or not yet back
