"""Autoscaling policies on traffic that is made up, counted, or read from an access log."""

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
LONG = 4 * 3600.0  # seconds; a longer trace is run with the outline of the fleet
PEAK = {True: 40.0, False: 12.0}  # busy workers at the peak, of a trace (True) and of a shape
# Runs on a trace (True) and on a shape: a trace of weeks takes minutes for each.
RUNS = {True: 1, False: 3}
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
    """A trace, or all shapes. Requests are scaled so that the busiest interval keeps `peak` workers
    busy, or to `scale` times the counts.
    """

    trace: Path | None = None
    peak: float | None = None  # None: the default in PEAK
    scale: float | None = None
    site: Site = field(default_factory=Site)
    hpa: float = 60.0  # percent
    whole: bool | None = None  # the shipped fleet, or its outline; None: by the length of the trace
    bars: bool = False
    runs: int | None = None  # runs with a seed each; None: the default in RUNS
    seed: int = 1


def run(wish: Scaling, watcher: Watcher) -> Report:
    """Run every policy on every traffic."""
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
    """Draw the workers over time, and the cost of every policy against its bad requests."""
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
    """Run each policy; all its runs are added up."""
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
    """By traffic, the fewest requests of a run that must wait too long for what HPA pays."""
    runs = _runs(wish)
    return {
        trace.name: fewest_late(trace, wish.site, outcomes[trace.name]["hpa"].worker_seconds / runs)
        for trace in traces
    }


def _method(wish: Scaling, traces: Sequence[Trace]) -> str:
    site, trace = wish.site, traces[0]
    what = (
        f"The trace {trace.name}: {trace.seconds / 3600:.0f} hours in {len(trace.counts):,} "
        "intervals, with requests at random times within each"
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
        f"{what}, {volume}{seeds}. A request is {site.service:g} s of work on average "
        f"(log-normal, standard deviation {site.spread:g} of the mean), and late if its answer "
        f"takes more than {site.slo:g} s. A worker does one request at a time. All requests wait "
        f"in one line, and are refused after {site.patience:g} s in it. A worker boots for "
        f"{site.boot:g} s; {site.min} to {site.max} workers are allowed. {fleet}. All policies "
        f"have their defaults, except that HPA's target is {wish.hpa:g} % (its default is 80 %: "
        "fewer workers, and more late requests). Knative's target is its default, 70 % of one "
        "request per worker. `fixed` always has the number of workers that is needed on average; "
        "the oracle has as many as the next seconds of the trace will need. `lab/demand.py` "
        "defines the workers needed, θ and τ."
    )
