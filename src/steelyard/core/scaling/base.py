"""What a scaling policy sees and what it returns.

A policy is deterministic: it may remember what it saw (how long the load has been high), but it
reads no clock. Its caller, the agent or the lab, passes the time in.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from statistics import fmean
from typing import Protocol


@dataclass(frozen=True, slots=True)
class View:
    """The fleet, as far as a policy may know it."""

    now: float
    workers: int  # workers that boot or serve, and those still to be started
    booting: int  # workers that boot, and those still to be started
    min: int
    max: int
    utilization: Mapping[str, float] = field(default_factory=dict)  # of serving workers, by name
    retirable: int = 0  # workers that may be retired now: not default, and not spared as busy
    last_action: float | None = None  # when the policy last changed the number of workers
    open: int = 0  # open exchanges at all balancers, and requests that wait for a worker
    completed: int = 0  # requests reported as answered, failed or refused, ever
    wait: float = 0.0  # the longest time that a request has waited for a worker, seconds
    boot: float | None = None  # the longest time that a recent worker took to be ready, seconds

    @property
    def mean(self) -> float:
        return fmean(self.utilization.values()) if self.utilization else 0.0


@dataclass(frozen=True, slots=True)
class Verdict:
    """How many workers to add (a negative change: to retire), and why."""

    change: int
    reason: str


class Policy(Protocol):
    """Decides from a view how many workers to add or retire."""

    name: str
    spares_busy: bool  # it retires only workers that have long been in LU, as in the paper

    def decide(self, view: View) -> Verdict:
        """The verdict for this moment; called once per tick with a time that never goes back."""


def held(reason: str) -> Verdict:
    """A verdict without a change although there was a reason for one."""
    return Verdict(0, f"held: {reason}")


@dataclass(slots=True)
class Dwell:
    """How long a condition has held without a break."""

    since: float | None = None

    def observe(self, condition: bool, now: float) -> float:
        """Note the condition; return for how long it has held."""
        if not condition:
            self.since = None
            return 0.0
        if self.since is None:
            self.since = now
        return now - self.since
