"""What a scaling policy sees and what it says.

A policy is deterministic: it may remember what it saw (how long the load has been high), but it
reads no clock. Whoever asks it, the agent or the lab, tells it the time.
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
    workers: int  # booting or serving: all that are not on their way out
    booting: int
    min: int
    max: int
    utilization: Mapping[str, float] = field(default_factory=dict)  # of serving workers, by name
    retirable: int = 0  # workers that may be retired now: not default, and as `spares_busy` says
    last_action: float | None = None  # when the number of workers was last changed by a policy
    open: int = 0  # exchanges at all balancers, those in their waiting lines included
    completed: int = 0  # requests that balancers have reported as answered or failed, ever
    wait: float = 0.0  # longest wait in a line now, seconds
    boot: float | None = None  # the longest that recent workers took to be ready, seconds

    @property
    def mean(self) -> float:
        return fmean(self.utilization.values()) if self.utilization else 0.0


@dataclass(frozen=True, slots=True)
class Verdict:
    """How many workers to add (or retire, below 0), and why."""

    change: int
    reason: str


class Policy(Protocol):
    """Decides from a view."""

    name: str
    spares_busy: bool  # it retires only workers that have been LU for long enough, as in the paper

    def decide(self, view: View) -> Verdict:
        """The verdict for this moment; called once a tick with a time that never goes back."""


def held(reason: str) -> Verdict:
    """No change, although there was a reason for one."""
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
