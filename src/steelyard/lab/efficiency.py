"""How true are the shares? Section 3.5 of the paper: η = min(rᵢ/wᵢ) / max(rᵢ/wᵢ)."""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any

from steelyard.lab.figure import COLOURS, numbers
from steelyard.lab.queueing import Setting, Stage
from steelyard.lab.report import Bar, Cell, Report, Table
from steelyard.lab.stats import Estimate, estimate
from steelyard.lab.watcher import Watcher
from steelyard.select import POLICIES

if TYPE_CHECKING:
    from matplotlib.axes import Axes

NAME = "efficiency"
PANELS = 2
WANTED = 0.99  # the least η of the ring that the experiment demands
LOAD = 0.7
COMPARED = ("weighted_random", "weighted_ring", "ring_of_two")
UNDER_LOAD = (*COMPARED, "shortest_wait")


@dataclass(frozen=True, slots=True)
class Scenario:
    """Weights, and the paper's result for them in one run."""

    name: str
    weights: tuple[float, ...]
    paper_counts: tuple[int, ...]
    paper_eta: float


SCENARIOS = (
    Scenario("heterogeneous", (100, 50, 25, 5), (5600, 2700, 1400, 300), 0.9),
    # The paper gives the quotients; these counts are the quotients times the weights.
    Scenario("homogeneous", (100, 95, 90, 85), (2720, 2550, 2450, 2280), 0.985),
)


@dataclass(frozen=True, slots=True)
class Efficiency:
    """So many requests, in so many runs of each scenario and policy."""

    requests: int = 10_000
    runs: int = 100
    seed: int = 1


def eta(counts: Sequence[float], weights: Sequence[float]) -> float:
    """The efficiency η: 1 when every server got exactly its share.

    >>> eta([5600, 2700, 1400, 300], [100, 50, 25, 5])
    0.9
    """
    quotients = [count / weight for count, weight in zip(counts, weights, strict=True)]
    return min(quotients) / max(quotients)


def run(wish: Efficiency, watcher: Watcher) -> Report:
    """Run both scenarios without load, as in the paper, and under load."""
    watcher.begin(len(SCENARIOS) * wish.runs * (len(COMPARED) + len(UNDER_LOAD)), "runs")
    idle = {(scenario.name, policy): list(_idle(scenario, policy, wish, watcher))
            for scenario in SCENARIOS for policy in COMPARED}  # fmt: skip
    loaded = [_loaded_row(scenario, policy, wish, watcher)
              for scenario in SCENARIOS for policy in UNDER_LOAD]  # fmt: skip
    etas = {key: estimate([eta(counts, _weights(key[0])) for counts in runs])
            for key, runs in idle.items()}  # fmt: skip
    return Report(
        name=NAME,
        title="Efficiency: how true are the shares?",
        method=(
            f"Section 3.5 of the paper: {wish.requests:,} requests over four servers, {wish.runs} "
            "runs with different seeds. η = min(rᵢ/wᵢ) / max(rᵢ/wᵢ) is 1 when every server got "
            "exactly its share. Under load, servers are as fast as their weights say, and "
            f"{LOAD:.0%} busy on average."
        ),
        answer=_answer(etas),
        reading=_reading(etas),
        seed=wish.seed,
        requests=len(SCENARIOS) * wish.runs * wish.requests * (len(COMPARED) + len(UNDER_LOAD)),
        tables=(
            Table(
                name="shares",
                title="Requests per server: expected, in the paper's run, in ours (first seed)",
                columns=("scenario", "weight", "expected", "paper", *COMPARED),
                rows=tuple(_share_rows(idle, wish)),
            ),
            Table(
                name="eta",
                title="η over all runs",
                columns=("scenario", "policy", "η", "± 95 %", "worst run", "best run", "paper"),
                rows=tuple(_eta_row(*key, told) for key, told in etas.items()),
            ),
            Table(
                name="load",
                title="Under load: η, and mean time in system relative to the fastest server's",
                columns=("scenario", "policy", "η", "± 95 %", "time", "± 95 %  "),
                rows=tuple(loaded),
            ),
        ),
        bars=tuple(_bar(scenario, etas[scenario.name, "weighted_ring"]) for scenario in SCENARIOS),
    )


def draw(report: Report, axes: Sequence[Axes]) -> None:
    """Draw η of each policy with its spread, a panel per scenario."""
    for panel, scenario in zip(axes, SCENARIOS, strict=True):
        rows = [row for row in report.table("eta").rows if row[0] == scenario.name]
        means, least, most = (numbers([row[at] for row in rows]) for at in (2, 4, 5))
        names = [str(row[1]) for row in rows]
        spread = [[mean - low for mean, low in zip(means, least, strict=True)],
                  [high - mean for mean, high in zip(means, most, strict=True)]]  # fmt: skip
        panel.bar(names, means, yerr=spread, capsize=6, color=[COLOURS[name] for name in names])
        panel.axhline(scenario.paper_eta, color="black", linestyle="--", label="paper, one run")
        panel.set_ylim(min(*least, scenario.paper_eta) - 0.02, 1.002)
        panel.set_title(f"{scenario.name}: weights {', '.join(f'{w:g}' for w in scenario.weights)}")
        panel.set_ylabel("η (mean; least and most of all runs)")
        panel.legend(loc="lower right")


def _idle(
    scenario: Scenario, policy: str, wish: Efficiency, watcher: Watcher
) -> Iterator[tuple[int, ...]]:
    """The requests per server in each run. No request is in flight, as in the paper's model."""
    watcher.tell(f"{scenario.name}, {policy}")
    for number in range(wish.runs):
        members = [SimpleNamespace(inflight=0, at=at) for at in range(len(scenario.weights))]
        rng = random.Random(f"{wish.seed} {number}")
        yield _count(POLICIES[policy](members, scenario.weights, rng).pick, wish.requests, members)
        watcher.step()


def _count(pick: Any, requests: int, members: Sequence[SimpleNamespace]) -> tuple[int, ...]:
    counts = Counter(pick().at for _ in range(requests))
    return tuple(counts[member.at] for member in members)


def _loaded_row(
    scenario: Scenario, policy: str, wish: Efficiency, watcher: Watcher
) -> tuple[Cell, ...]:
    watcher.tell(f"{scenario.name} under load, {policy}")
    etas, times = [], []
    fastest = max(scenario.weights)
    speeds = [weight / fastest for weight in scenario.weights]
    for number in range(wish.runs):
        setting = Setting(policy, LOAD, wish.requests, speeds, scenario.weights,
                          wish.seed * wish.runs + number)  # fmt: skip
        stage = Stage(setting).run()
        etas.append(eta(stage.picks, scenario.weights))
        times.append(float(stage.journal.times().mean()))
        watcher.step()
    shares, seconds = estimate(etas), estimate(times)
    return (scenario.name, policy, shares.mean, shares.margin, seconds.mean, seconds.margin)


def _weights(name: str) -> tuple[float, ...]:
    return next(scenario.weights for scenario in SCENARIOS if scenario.name == name)


def _share_rows(
    idle: dict[tuple[str, str], list[tuple[int, ...]]], wish: Efficiency
) -> Iterator[tuple[Cell, ...]]:
    for scenario in SCENARIOS:
        for at, weight in enumerate(scenario.weights):
            expected = wish.requests * weight / sum(scenario.weights)
            ours = [idle[scenario.name, policy][0][at] for policy in COMPARED]
            paper = scenario.paper_counts[at]
            yield (scenario.name, weight, round(expected), paper, *ours)


def _eta_row(scenario: str, policy: str, told: Estimate) -> tuple[Cell, ...]:
    paper = next(one.paper_eta for one in SCENARIOS if one.name == scenario)
    beside = paper if policy == "weighted_random" else None  # the policy that the paper ran
    return (scenario, policy, told.mean, told.margin, told.least, told.most, beside)


def _bar(scenario: Scenario, told: Estimate) -> Bar:
    return Bar(
        what=f"η of the ring ≥ {WANTED} in every run, {scenario.name}",
        got=f"worst run {told.least:.4f}; paper {scenario.paper_eta}",
        met=told.least >= WANTED,
    )


def _answer(etas: dict[tuple[str, str], Estimate]) -> str:
    drawn, ring = etas["heterogeneous", "weighted_random"], etas["heterogeneous", "weighted_ring"]
    return (
        f"A ring gives every server its share: η is {ring.least:.3f} in its worst run, and 1 is "
        f"perfect. Drawing at random, as the paper does, gives {drawn.mean:.2f} on average."
    )


def _reading(etas: dict[tuple[str, str], Estimate]) -> str:
    drawn, ring = etas["heterogeneous", "weighted_random"], etas["heterogeneous", "weighted_ring"]
    return (
        "Drawing each request at random, as the paper does, leaves the smallest server's share "
        f"to luck: η is {drawn.mean:.3f} on average for unequal weights, and anywhere from "
        f"{drawn.least:.3f} to {drawn.most:.3f} in a single run, so the paper's 0.9 and 0.985 are "
        f"single draws. A ring takes its slots in turn; η of its worst run is {ring.least:.4f}. "
        "Under load, policies that look at the number of waiting requests give up true shares on "
        "purpose: they send a request where it waits least."
    )
