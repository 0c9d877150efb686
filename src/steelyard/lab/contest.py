"""A contest: the same requests for every policy, and the outcome of each."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from math import ceil

from steelyard.core.scaling.base import Policy
from steelyard.core.scaling.fixed import Fixed
from steelyard.core.scaling.predictive import PredictivePolicy
from steelyard.core.scaling.step import StepPolicy
from steelyard.core.scaling.target import TargetPolicy
from steelyard.core.score import Weights
from steelyard.lab.arrivals import arrivals
from steelyard.lab.autoscaled import Scaled
from steelyard.lab.crew import Tally
from steelyard.lab.demand import Demand, Fit
from steelyard.lab.outline import Outline
from steelyard.lab.references import Hpa, Knative, Oracle
from steelyard.lab.site import Site
from steelyard.lab.trace import Trace

OURS = ("target", "predictive")
REFERENCES = ("hpa", "knative", "oracle")
POINTS = 600  # points of the series that a figure shows
CPU_ONLY = Weights(cpu=1.0, memory=0.0, network=0.0, availability=0.0)

Contestants = dict[str, Callable[[Demand], Policy]]


def contestants(hpa: float) -> Contestants:
    """Every policy with its defaults, except for HPA's target."""
    return {
        "fixed": lambda _: Fixed(),
        "step": lambda _: StepPolicy(),
        "target": lambda _: TargetPolicy(),
        "predictive": lambda _: PredictivePolicy(),
        "hpa": lambda _: Hpa(hpa),
        "knative": lambda _: Knative(),
        "oracle": lambda demand: Oracle(demand.plan),
    }


@dataclass(slots=True)
class Outcome:
    """One policy on one trace, in one run or in several."""

    policy: str
    tally: Tally
    fit: Fit
    worker_seconds: float
    actions: int
    seconds: float
    series: list[tuple[float, int, int]] = field(default_factory=list)  # time, needed, ready

    shares: list[float] = field(default_factory=list)  # of bad requests, run by run

    def __add__(self, other: Outcome) -> Outcome:
        """Both runs as one; the series is that of the first."""
        return Outcome(
            self.policy, self.tally + other.tally, self.fit + other.fit,
            self.worker_seconds + other.worker_seconds, self.actions + other.actions,
            self.seconds + other.seconds, self.series, self.shares + other.shares,
        )  # fmt: skip

    @property
    def workers(self) -> float:
        """The number of workers, on average."""
        return self.worker_seconds / self.seconds

    @property
    def hourly(self) -> float:
        """The number of actions per hour."""
        return 3600 * self.actions / self.seconds


def compete(
    trace: Trace, site: Site, name: str, contestant: Callable[[Demand], Policy], *,
    whole: bool, seed: int,
) -> Outcome:  # fmt: skip
    """Run one policy; `whole` means the shipped fleet, otherwise its outline."""
    demand, policy = Demand(trace, site), contestant
    run = _fleet(site, policy(demand), name) if whole else Outline(site, policy(demand))
    run.open(ceil(demand.mean) if name == "fixed" else demand.plan(0.0))
    outcome = Outcome(name, run.crew.tally, Fit(), 0.0, 0, trace.seconds)
    every = trace.seconds / POINTS
    for now, requests in arrivals(trace, site.tick, site.service, site.spread, seed):
        run.crew.serve(requests, now)
        needed, ready = demand.at(now), run.ready
        outcome.fit.note(ready, needed)
        run.tick(now)
        if now >= every * len(outcome.series):
            outcome.series.append((now, needed, ready))
    outcome.worker_seconds, outcome.actions = run.worker_seconds, run.actions
    outcome.shares.append(outcome.tally.bad)
    return outcome


def _fleet(site: Site, policy: Policy, name: str) -> Scaled:
    """The shipped fleet; references such as HPA go by CPU alone, our policies by the whole
    score.
    """
    return Scaled(site, policy, CPU_ONLY if name in REFERENCES else Weights())
