"""Autoscaling policies on traffic: synthetic, counted, or from an access log."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

from steelyard.errors import UsageError
from steelyard.lab.contest import OURS, Outcome, compete, contestants
from steelyard.lab.figure import numbers
from steelyard.lab.frontier import fewest_late
from steelyard.lab.report import Report
from steelyard.lab.shapes import SHAPES, shape
from steelyard.lab.site import Site
from steelyard.lab.standings import (
    Outcomes,
    answer,
    bars,
    outline_table,
    policy_table,
    reading,
    series_table,
)
from steelyard.lab.trace import Trace
from steelyard.lab.trace_file import read_trace
from steelyard.lab.watcher import Watcher

if TYPE_CHECKING:
    from matplotlib.axes import Axes

NAME = "scaling"
PANELS = 2
LONG = 4 * 3600.0  # seconds of a trace from which on the fleet is run in outline
PEAK = {True: 40.0, False: 12.0}  # of a trace, and of a shape
RUNS = {True: 1, False: 3}  # a trace of weeks takes minutes for each
SHOWN = "flash crowd"  # the shape that the figure shows
COLOURS = {
    "fixed": "#999999",
    "step": "#E69F00",
    "target": "#0072B2",
    "predictive": "#009E73",
    "hpa": "#D55E00",
    "knative": "#CC79A7",
    "oracle": "#000000",
}


@dataclass(frozen=True, slots=True)
class Scaling:
    """A trace, or all shapes; as many requests as keep `peak` workers busy in the busiest interval,
    or `scale` times what was counted."""

    trace: Path | None = None
    peak: float | None = None  # None: as PEAK says
    scale: float | None = None
    site: Site = field(default_factory=Site)
    hpa: float = 60.0  # percent
    whole: bool | None = None  # the shipped fleet, or its outline; None: by length
    bars: bool = False
    runs: int | None = None  # with a seed each; None: as RUNS says
    seed: int = 1


def run(wish: Scaling, watcher: Watcher) -> Report:
    """Every policy on every traffic."""
    _check(wish.site)
    traces = [_scaled(trace, wish) for trace in _traces(wish)]
    rivals = contestants(wish.hpa)
    compared = [trace for trace in traces if _whole(trace, wish) and wish.trace is None]
    runs = _runs(wish)
    watcher.begin(len(rivals) * runs * (len(traces) + len(compared)), "runs")
    outcomes = {trace.name: _compete(trace, wish, watcher) for trace in traces}
    outlined = {trace.name: _compete(trace, wish, watcher, whole=False) for trace in compared}
    tables = [policy_table(outcomes)]
    if outlined:
        tables.append(outline_table(outcomes, outlined))
    tables.append(series_table(outcomes))
    return Report(
        name=NAME if wish.trace is None else f"{NAME}-{traces[0].name}",
        title="Scaling: " + (
            "how many workers, and when?" if wish.trace is None else f"the trace {traces[0].name}"
        ),
        method=_method(wish, traces),
        answer=answer(outcomes),
        reading=reading(outcomes),
        seed=wish.seed,
        requests=sum(one.tally.came for each in (outcomes, outlined) for by in each.values()
                     for one in by.values()),
        tables=tuple(tables),
        bars=tuple(bars(outcomes, _floors(traces, outcomes, wish))) if wish.bars else (),
    )  # fmt: skip


def draw(report: Report, axes: Sequence[Axes]) -> None:
    """Workers over time, and what every policy costs for how many bad requests."""
    rows = [list(row) for row in report.table("series").rows]
    traffics = [row[0] for row in rows]
    shown = SHOWN if SHOWN in traffics else traffics[0]
    policies = report.table("series").columns[3:]
    mine = [row for row in rows if row[0] == shown]
    hours = [time / 3600 for time in numbers([row[1] for row in mine])]
    axes[0].fill_between(hours, numbers([row[2] for row in mine]), color="#dddddd", label="needed")
    for number, name in enumerate(policies, 3):
        if name in ("step", *OURS, "hpa"):
            axes[0].plot(hours, numbers([row[number] for row in mine]), color=COLOURS[name],
                         label=name, linewidth=1)  # fmt: skip
    axes[0].set_title(f"Workers that serve: {shown}")
    axes[0].set_xlabel("hours")
    axes[0].set_ylabel("workers")
    axes[0].legend(fontsize="small")
    told = report.table("policies")
    for name in COLOURS:
        each = [row for row in told.rows if row[1] == name and name != "fixed"]
        if each:
            axes[1].plot(numbers([row[11] for row in each]), numbers([row[2] for row in each]), "o",
                         color=COLOURS[name], label=name)  # fmt: skip
    axes[1].set_title("Better is left and below")
    axes[1].set_xlabel("worker-seconds over the oracle's")
    axes[1].set_ylabel("requests failed or late, %")
    axes[1].set_yscale("symlog", linthresh=0.01)
    axes[1].legend(fontsize="small")


def _check(site: Site) -> None:
    if site.max < 1 or site.min < 1:
        raise UsageError("no workers", hint="--min and --max are 1 or more")
    if site.min > site.max:
        raise UsageError(f"--min {site.min} is more than --max {site.max}", hint="swap them")


def _traces(wish: Scaling) -> list[Trace]:
    if wish.trace is None:
        return [shape(name, 1.0) for name in SHAPES]
    return [read_trace(wish.trace)]


def _scaled(trace: Trace, wish: Scaling) -> Trace:
    if wish.scale is not None:
        return trace.scaled(wish.scale)
    return trace.scaled(_peak(wish) / wish.site.service / trace.peak)


def _peak(wish: Scaling) -> float:
    return PEAK[wish.trace is not None] if wish.peak is None else wish.peak


def _whole(trace: Trace, wish: Scaling) -> bool:
    return trace.seconds < LONG if wish.whole is None else wish.whole


def _runs(wish: Scaling) -> int:
    return RUNS[wish.trace is not None] if wish.runs is None else wish.runs


def _compete(
    trace: Trace, wish: Scaling, watcher: Watcher, whole: bool | None = None
) -> dict[str, Outcome]:
    """All runs of each policy, as one."""
    outcomes: dict[str, Outcome] = {}
    for name, contestant in contestants(wish.hpa).items():
        watcher.tell(f"{trace.name}: {name}")
        for number in range(_runs(wish)):
            one = compete(
                trace, wish.site, name, contestant, seed=wish.seed + number,
                whole=_whole(trace, wish) if whole is None else whole,
            )  # fmt: skip
            outcomes[name] = outcomes[name] + one if number else one
            watcher.step()
    return outcomes


def _floors(traces: Sequence[Trace], outcomes: Outcomes, wish: Scaling) -> dict[str, float]:
    """How few requests of a run have to wait too long, for what HPA pays."""
    runs = _runs(wish)
    return {
        trace.name: fewest_late(trace, wish.site, outcomes[trace.name]["hpa"].worker_seconds / runs)
        for trace in traces
    }


def _method(wish: Scaling, traces: Sequence[Trace]) -> str:
    site, trace = wish.site, traces[0]
    what = (
        f"The trace {trace.name}: {trace.seconds / 3600:.0f} hours in {len(trace.counts):,} "
        "intervals, requests at random within each"
        if wish.trace is not None
        else "Five shapes of an hour each"
    )
    volume = (
        f"scaled so that the busiest interval keeps {_peak(wish):g} workers busy"
        if wish.scale is None
        else f"{wish.scale:g} times as many as counted"
    )
    runs = _runs(wish)
    seeds = f"; {runs} runs with a seed each, taken together" if runs > 1 else ""
    fleet = (
        "The shipped fleet decides, every 2 s"
        if _whole(trace, wish)
        else "The shipped policies decide, every 2 s, in the outline of a fleet"
    )
    return (
        f"{what}, {volume}{seeds}. A request is {site.service:g} s of work on average (log-normal, "
        f"deviation {site.spread:g} of the mean), and late after {site.slo:g} s; a worker does one "
        f"at a time; one line for all, from which a request is refused after {site.patience:g} s. "
        f"A worker boots for {site.boot:g} s; {site.min} to {site.max} are allowed. {fleet}. "
        f"All policies have their defaults, but HPA a target of {wish.hpa:g} % "
        "(its own is 80 %: fewer workers, and more late requests); Knative has its 70 % of one "
        "request per worker. `fixed` has all the time what is needed on "
        "average, and the oracle what the next seconds of the trace will need. Workers needed, θ "
        "and τ: `lab/demand.py`."
    )
