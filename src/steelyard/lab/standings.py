"""The standings of a contest: tables, what they mean, and the bars to be reached."""

from __future__ import annotations

from collections.abc import Iterator

from steelyard.lab.contest import OURS, Outcome
from steelyard.lab.demand import speed_up
from steelyard.lab.report import Bar, Cell, Table

Outcomes = dict[str, dict[str, Outcome]]  # by traffic and policy
COLUMNS = (
    "traffic", "policy", "failed or late %", "failed %", "θU %", "θO %", "τU %", "τO %",
    "workers", "over the oracle's", "actions/h", "speed-up",
)  # fmt: skip


def _rows(outcomes: Outcomes) -> Iterator[tuple[Cell, ...]]:
    for traffic, by in outcomes.items():
        for name, one in by.items():
            tally = one.tally
            yield (
                traffic, name, 100 * tally.bad, 100 * tally.failed / max(1, tally.came),
                *one.fit.measures, one.worker_seconds / one.seconds,
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
    """What the outline leaves out."""
    cells = [
        (traffic, name, 100 * one.tally.bad, 100 * outlined[traffic][name].tally.bad,
         one.worker_seconds / one.seconds,
         outlined[traffic][name].worker_seconds / one.seconds)
        for traffic, by in outcomes.items() for name, one in by.items()
    ]  # fmt: skip
    return Table(
        name="outline",
        title="The shipped fleet, and its outline that long traces are run with",
        columns=("traffic", "policy", "failed or late %", "in outline", "workers", "in outline "),
        rows=tuple(cells),
    )


def series_table(outcomes: Outcomes) -> Table:
    """For the figure."""
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


def reading(outcomes: Outcomes) -> str:
    """All traffics together, and for shapes what is seen in each of them."""
    names = ("step", *OURS, "hpa", "knative", "oracle")
    told = ", ".join(f"`{name}` {_bad(outcomes, name):.2g} % at {_cost(outcomes, name):.2f}"
                     for name in names)  # fmt: skip
    summary = (
        "Requests failed or late, at so many times the oracle's worker-seconds: " + told + ". "
    )
    ours = min(OURS, key=lambda name: _bad(outcomes, name))
    less = 1 - _cost(outcomes, ours) / _cost(outcomes, "hpa")
    return summary + (
        f"Of ours `{ours}` has the fewest, with {abs(less):.0%} {'fewer' if less > 0 else 'more'} "
        "worker-seconds than HPA's rule. Some are left to everybody but the oracle: a jump is late "
        "until workers have booted. `step` adds one worker per boot, and retires none before "
        "utilization is below a fifth. HPA looks every 15 s, cannot see beyond 100 %, and holds "
        "for 300 s what it wanted once. `target` goes by arrivals where utilization ends, and "
        "holds for 120 s."
    )


def _bad(outcomes: Outcomes, name: str) -> float:
    tallies = [by[name].tally for by in outcomes.values()]
    bad = sum(tally.failed + tally.late for tally in tallies)
    return 100 * bad / sum(tally.came for tally in tallies)


def _cost(outcomes: Outcomes, name: str) -> float:
    paid = sum(by[name].worker_seconds for by in outcomes.values())
    return paid / sum(by["oracle"].worker_seconds for by in outcomes.values())


def bars(outcomes: Outcomes) -> Iterator[Bar]:
    """One of ours against HPA and the paper's rule."""
    for traffic, by in outcomes.items():
        hpa, step = by["hpa"], by["step"]
        best = min((by[name] for name in OURS), key=lambda one: one.tally.bad)
        won = [
            name for name in OURS
            if by[name].tally.bad < hpa.tally.bad and by[name].worker_seconds < hpa.worker_seconds
        ]  # fmt: skip
        met = [name for name in won if by[name].tally.bad <= step.tally.bad]
        yield Bar(
            what=f"{traffic}: one of ours with fewer bad requests and fewer worker-seconds than "
            "HPA's rule, and no more bad requests than `step`",
            got=", ".join(met)
            or f"best {best.policy} {100 * best.tally.bad:.4f} %, "
            f"HPA {100 * hpa.tally.bad:.4f} %, step {100 * step.tally.bad:.4f} %",
            met=bool(met),
        )
