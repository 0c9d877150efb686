"""Which policy piles up least? Section 8 of the paper: makespan and maximum load, and what old
snapshots cost.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from steelyard.lab import growth, staleness
from steelyard.lab.figure import COLOURS, numbers
from steelyard.lab.report import Bar, Cell, Report, Table
from steelyard.lab.stats import estimate
from steelyard.lab.tasks import place
from steelyard.lab.watcher import Watcher

if TYPE_CHECKING:
    from matplotlib.axes import Axes

NAME = "makespan"
PANELS = 2
POLICIES = (
    "weighted_random",
    "power_of_two",
    "weighted_ring",
    "ring_of_two",
    "shortest_wait",
    "least_in_flight",
)
TASKS, MACHINES = 1000, 10  # the paper's numbers
SPEEDS = {"identical": (1.0,) * MACHINES, "related": (1.0,) * 4 + (2.0,) * 3 + (4.0,) * 2 + (8.0,)}
SIZES = ("equal", "exponential")
FEW = 5  # runs at most, where one run takes long


@dataclass(frozen=True, slots=True)
class Makespan:
    """Runs with different seeds, the most tasks, and requests in each run with old snapshots."""

    runs: int = 50
    tasks: int = 1_000_000
    requests: int = 20_000
    seed: int = 1


def run(wish: Makespan, watcher: Watcher) -> Report:
    """Make the tables: makespan, growth of the maximum load, shares of machines, staleness."""
    few = range(wish.seed * FEW, wish.seed * FEW + min(wish.runs, FEW))
    sizes = growth.cases(wish.tasks)
    cases = len(SPEEDS) * len(SIZES) + len(sizes)
    watcher.begin(cases * len(POLICIES) + len(staleness.AGES), "cases")
    spans = [_span_row(machines, kind, policy, wish, watcher)
             for machines in SPEEDS for kind in SIZES for policy in POLICIES]  # fmt: skip
    grown = list(_growth_rows(sizes, few, watcher))
    shares = list(growth.share_rows(few))
    stale = [_stale_row(age, wish.requests, few, watcher) for age in staleness.AGES]
    return Report(
        name=NAME,
        title="Makespan: who piles up least?",
        method=_method(wish, len(few)),
        answer=_answer(spans, stale),
        reading=_reading(spans, grown, stale),
        seed=wish.seed,
        requests=_requests(wish, len(few)),
        tables=(
            Table(
                name="tasks",
                title=f"{TASKS} tasks on {MACHINES} machines: makespan over the optimum",
                columns=(
                    "machines",
                    "tasks",
                    "policy",
                    "makespan / optimum",
                    "± 95 %",
                    "worst run",
                ),
                rows=tuple(spans),
            ),
            Table(
                name="growth",
                title="Equal tasks and machines: maximum load",
                columns=("tasks", "machines", "policy", "maximum", "above the mean", "theory"),
                rows=tuple(grown),
            ),
            Table(
                name="bins",
                title="Two choices, 10⁴ tasks on 10⁴ machines: share of machines by load",
                columns=("load at least", "published", "simulated", "± 95 %"),
                rows=tuple(shares),
            ),
            Table(
                name="staleness",
                title="Mean time in system, in services, by the age Δ of the snapshot",
                columns=("Δ seconds", *staleness.AGED),
                rows=tuple(stale),
            ),
        ),
        bars=tuple(_bars(shares)),
    )


def draw(report: Report, axes: Sequence[Axes]) -> None:
    """Draw the maximum load, and the effect of old snapshots."""
    grown, stale = report.table("growth"), report.table("staleness")
    square = [row for row in grown.rows if row[0] == row[1]]
    for policy in POLICIES:
        rows = [row for row in square if row[2] == policy]
        axes[0].plot(numbers([row[1] for row in rows]), numbers([row[3] for row in rows]), "o-",
                     color=COLOURS[policy], label=policy)  # fmt: skip
    axes[0].set_xscale("log")
    axes[0].set_xlabel("tasks = machines")
    axes[0].set_ylabel("maximum load")
    axes[0].set_title("As many tasks as machines")
    ages = numbers(stale.column("Δ seconds"))
    for name in staleness.AGED:
        axes[1].plot(ages, numbers(stale.column(name)), "o-", label=name, color=_colour(name))
    axes[1].set_xscale("symlog", linthresh=0.1)
    axes[1].set_yscale("log")
    axes[1].set_xlabel("age of the snapshot Δ, seconds")
    axes[1].set_ylabel("mean time in system, in services")
    axes[1].set_title(f"Choices by old news, load {staleness.LOAD:.0%}")
    for panel in axes:
        panel.legend(fontsize="small")


def _span_row(
    machines: str, sizes: str, policy: str, wish: Makespan, watcher: Watcher
) -> tuple[Cell, ...]:
    watcher.tell(f"{sizes} tasks on {machines} machines, {policy}")
    ratios = []
    for number in range(wish.runs):
        seed = wish.seed * wish.runs + number
        placed = place(policy, SPEEDS[machines], _sizes(sizes, seed), seed)
        ratios.append(placed.makespan / placed.optimum)
    watcher.step()
    told = estimate(ratios)
    return (machines, sizes, policy, told.mean, told.margin, told.most)


def _sizes(kind: str, seed: int) -> list[float]:
    if kind == "equal":
        return [1.0] * TASKS
    sizes: list[float] = np.random.default_rng(seed).exponential(1.0, TASKS).tolist()
    return sizes


def _growth_rows(
    sizes: Sequence[tuple[int, int]], seeds: Sequence[int], watcher: Watcher
) -> Iterator[tuple[Cell, ...]]:
    for tasks, machines in sizes:
        for policy in POLICIES:
            watcher.tell(f"{tasks:,} tasks on {machines:,} machines, {policy}")
            yield growth.growth_row(tasks, machines, policy, seeds)
            watcher.step()


def _stale_row(
    age: float, requests: int, seeds: Sequence[int], watcher: Watcher
) -> tuple[Cell, ...]:
    watcher.tell(f"snapshots {age:g} s old")
    times = [staleness.time_in_system(name, age, requests, seeds) for name in staleness.AGED]
    watcher.step()
    return (age, *times)


def _colour(name: str) -> str:
    return COLOURS.get(name) or {"own": "#000000", "ring": "#0072B2"}.get(
        name.partition(" ")[0], "#CC79A7"
    )


def _requests(wish: Makespan, few: int) -> int:
    spans = TASKS * wish.runs * len(SPEEDS) * len(SIZES) * len(POLICIES)
    grown = sum(tasks * growth.runs(tasks, machines, policy, few)
                for tasks, machines in growth.cases(wish.tasks)
                for policy in POLICIES)  # fmt: skip
    return spans + grown + wish.requests * few * (len(staleness.AGES) * len(staleness.AGED) - 2)


def _bars(shares: Sequence[tuple[Cell, ...]]) -> Iterator[Bar]:
    off = max(abs(float(got or 0) - float(known or 0)) for _, known, got, _ in shares)
    yield Bar(
        what="two choices: shares of machines by load within 0.005 of the published ones",
        got=f"at most {off:.4f} off",
        met=off <= 0.005,
    )


def _method(wish: Makespan, few: int) -> str:
    load, workers, rate = staleness.LOAD, staleness.WORKERS, staleness.RATE
    return (
        f"Section 8 of the paper. Tasks are placed one by one and stay: {TASKS} on {MACHINES} "
        f"machines ({wish.runs} runs), then up to {wish.tasks:,} ({few} runs). `least_in_flight` "
        "is Greedy, which looks at all machines for each task; the case that would take 10¹⁰ "
        "looks is left out. `power_of_two` is the two choices of Azar et al. In the last part, "
        f"requests come at {load:.0%} of the rate that {workers} workers of {rate:g} requests/s "
        "can serve, and the balancer knows a snapshot of the workers, renewed every Δ seconds "
        f"({few} runs of {wish.requests:,} requests)."
    )


def _answer(spans: Sequence[tuple[Cell, ...]], stale: Sequence[tuple[Cell, ...]]) -> str:
    later = {row[2]: float(row[3] or 0) - 1 for row in spans if row[:2] == ("identical", "equal")}
    old = dict(zip(staleness.AGED, next(row for row in stale if row[0] == 2.0)[1:], strict=True))
    return (
        f"Random choice ends {later['weighted_random']:.0%} later than necessary, two choices "
        f"{later['power_of_two']:.1%}. But a balancer whose news is 2 s old does worse than one "
        f"that knows nothing: a request takes {old['random by score (paper)']:.0f} service times "
        f"with the paper's scores, and {old['weighted_random']:.0f} at random. So our balancers "
        f"go by what they count themselves ({old['own count, shortest_wait']:.1f})."
    )


def _reading(
    spans: Sequence[tuple[Cell, ...]],
    grown: Sequence[tuple[Cell, ...]],
    stale: Sequence[tuple[Cell, ...]],
) -> str:
    later = {row[2]: float(row[3] or 0) - 1 for row in spans if row[:2] == ("identical", "equal")}
    most = {row[2]: row[3] for row in grown if row[0] == row[1] == 10_000}
    two_seconds = next(row for row in stale if row[0] == 2.0)
    old = dict(zip(staleness.AGED, two_seconds[1:], strict=True))
    return (
        f"Random choice ends {later['weighted_random']:.0%} later than necessary, two choices "
        f"{later['power_of_two']:.1%}, a ring {later['weighted_ring']:.1%}. With 10⁴ tasks on as "
        f"many machines the fullest machine has {most['weighted_random']:.1f} tasks at random, "
        f"{most['power_of_two']:.1f} with two choices, and {most['ring_of_two']:.1f} with our "
        "ring of two: the ring needs no random number, but is not quite as even. With old news "
        "the order changes. With snapshots renewed every 2 s, the paper's default, Greedy sends "
        f"all requests to the same worker, and a request takes {old['least_in_flight']:.0f} "
        f"service times. It takes {old['random by score (paper)']:.1f} if workers are drawn by "
        f"score, {old['power_of_two']:.1f} with two choices, {old['ring by weight (ours)']:.1f} "
        f"with our damped weights, and {old['weighted_random']:.1f} with no knowledge at all. So "
        "the paper's Δ(t) is not a small term: with old news its weighted choice is worse than a "
        "blind one. Our balancers go by what they count and time themselves, which is never old "
        f"({old['own count, shortest_wait']:.1f} for one balancer; each of several sees only a "
        "part), and take only damped weights from the queue."
    )
