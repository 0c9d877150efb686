"""The standings of a contest: tables, their meaning, and the goals to be reached."""

from __future__ import annotations

from collections.abc import Iterator

from steelyard.lab.contest import OURS, Outcome
from steelyard.lab.demand import speed_up
from steelyard.lab.report import Bar, Cell, Table
from steelyard.lab.stats import estimate

Outcomes = dict[str, dict[str, Outcome]]  # by traffic and policy
COLUMNS = (
    "traffic", "policy", "failed or late %", "± 95 %", "by waiting %", "failed %",
    "θU %", "θO %", "τU %", "τO %", "workers", "over the oracle's", "actions/h", "speed-up",
)  # fmt: skip


def _rows(outcomes: Outcomes) -> Iterator[tuple[Cell, ...]]:
    for traffic, by in outcomes.items():
        for name, one in by.items():
            tally = one.tally
            yield (
                traffic, name, 100 * tally.bad, 100 * estimate(one.shares).margin,
                100 * tally.waited / max(1, tally.came), 100 * tally.failed / max(1, tally.came),
                *one.fit.measures, one.workers,
                one.worker_seconds / by["oracle"].worker_seconds, one.hourly,
                speed_up(one.fit, by["fixed"].fit),
            )  # fmt: skip


def policy_table(outcomes: Outcomes) -> Table:
    """A row for each policy on each traffic."""
    return Table(
        name="policies",
        title="What each policy made of the same requests",
        columns=COLUMNS,
        rows=tuple(_rows(outcomes)),
    )


def outline_table(outcomes: Outcomes, outlined: Outcomes) -> Table:
    """Compare the shipped fleet with its outline."""
    cells = [
        (traffic, name, 100 * one.tally.bad, 100 * outlined[traffic][name].tally.bad,
         one.workers, outlined[traffic][name].workers)
        for traffic, by in outcomes.items() for name, one in by.items()
    ]  # fmt: skip
    return Table(
        name="outline",
        title="The shipped fleet, and its outline that long traces are run with",
        columns=("traffic", "policy", "failed or late %", "in outline", "workers", "in outline "),
        rows=tuple(cells),
    )


def series_table(outcomes: Outcomes) -> Table:
    """The table that the figure is drawn from."""
    names = next(iter(outcomes.values())).keys()
    cells = [
        (traffic, *moments[0][:2], *(ready for _, _, ready in moments))
        for traffic, by in outcomes.items()
        for moments in zip(*(one.series for one in by.values()), strict=True)
    ]
    return Table(
        name="series",
        title="Workers that serve",
        columns=("traffic", "seconds", "needed", *names),
        rows=tuple(cells),
        shown=False,
    )


def answer(outcomes: Outcomes) -> str:
    """Which policy to take, in a sentence."""
    ours = min(OURS, key=lambda name: _bad(outcomes, name))
    if _bad(outcomes, ours) >= _bad(outcomes, "hpa") or _cost(outcomes, ours) >= _cost(
        outcomes, "hpa"
    ):
        return (
            f"`{ours}` does not beat HPA's rule in both bad requests and workers on this "
            f"traffic: {_told(outcomes, ours)}, "
            f"HPA {_told(outcomes, 'hpa')}."
        )
    return (
        f"Take `{ours}`: it has fewer bad requests than Kubernetes' HPA rule and needs fewer "
        f"workers for that ({_told(outcomes, ours)}; HPA {_told(outcomes, 'hpa')}; the paper's "
        f"`step` {_told(outcomes, 'step')})."
    )


def _told(outcomes: Outcomes, name: str) -> str:
    return f"{_bad(outcomes, name):.3g} % with {_cost(outcomes, name):.2f} × the oracle's workers"


def reading(outcomes: Outcomes) -> str:
    """What the figures mean, over all traffic."""
    names = ("step", *OURS, "hpa", "knative", "oracle")
    told = ", ".join(f"`{name}` {_bad(outcomes, name):.2g} % at {_cost(outcomes, name):.2f}"
                     for name in names)  # fmt: skip
    summary = (
        "The share of requests that failed or were late, and the worker-seconds as a multiple of "
        f"the oracle's: {told}. "
    )
    ours = min(OURS, key=lambda name: _bad(outcomes, name))
    less = 1 - _cost(outcomes, ours) / _cost(outcomes, "hpa")
    return summary + (
        f"Of our policies, `{ours}` has the fewest bad requests, with {abs(less):.0%} "
        f"{'fewer' if less > 0 else 'more'} worker-seconds than HPA's rule. Only the oracle "
        "avoids late requests after a jump: with any other policy they are late until more "
        "workers have booted. `step` adds one worker per boot, and retires none before "
        "utilization is below a fifth. HPA looks every 15 s, cannot see a load beyond 100 %, and "
        "keeps for 300 s the most that it wanted. `target` goes by arrivals where utilization is "
        "at its limit, and keeps the most that it wanted for 120 s."
    )


def _bad(outcomes: Outcomes, name: str) -> float:
    tallies = [by[name].tally for by in outcomes.values()]
    bad = sum(tally.failed + tally.late for tally in tallies)
    return 100 * bad / sum(tally.came for tally in tallies)


def _cost(outcomes: Outcomes, name: str) -> float:
    paid = sum(by[name].worker_seconds for by in outcomes.values())
    return paid / sum(by["oracle"].worker_seconds for by in outcomes.values())


def bars(outcomes: Outcomes, floors: dict[str, float]) -> Iterator[Bar]:
    """The goals: one of our policies beats HPA's rule, and the paper's. `floors` are, by traffic,
    the fewest requests of a run that must wait too long for what HPA pays.
    """
    for traffic, by in outcomes.items():
        hpa, step, floor = by["hpa"], by["step"], floors[traffic]
        won = [
            name for name in OURS
            if by[name].tally.bad < hpa.tally.bad and by[name].worker_seconds < hpa.worker_seconds
        ]  # fmt: skip
        met = [name for name in won if by[name].tally.bad <= step.tally.bad]
        yield Bar(
            what=(
                f"{traffic}: one of our policies has fewer bad requests and fewer worker-seconds "
                "than HPA's rule"
            ),
            got=_against(by, *OURS, "hpa"),
            met=bool(won),
        )
        yield Bar(
            what=f"{traffic}: the same policy has no more bad requests than `step`",
            got=(
                f"{_against(by, *OURS, 'step')}; by theory, {floor:.0f} are late by waiting in a "
                "run if the trace is known and as much is paid as HPA pays"
            ),
            met=bool(met),
        )


def _against(by: dict[str, Outcome], *names: str) -> str:
    tallies = [(name, by[name].tally, by[name].workers) for name in names]
    return ", ".join(
        f"{name} {tally.failed + tally.late:,}, of which {tally.waited:,} by waiting, with "
        f"{workers:.2f} workers"
        for name, tally, workers in tallies
    )
