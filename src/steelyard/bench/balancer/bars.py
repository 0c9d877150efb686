"""Bars: the figures that the balancer must reach, and whether it did in this run.

They are the goals of the project (issue 3); the figures of a run are compared with them.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import NamedTuple

from pydantic import BaseModel

from steelyard.bench.balancer.contenders import AIOHTTP, COMPILED, HAPROXY, NGINX, PURE, TUNED
from steelyard.bench.balancer.summary import Summary, cost
from steelyard.bench.stats import ratio

HEADS = ("small", "browser")
BODIES = ("64k", "1m")
POST = "post"
IDLE = "idle"
IDLE_BYTES = 1.2 * 1024


class Bar(NamedTuple):
    """At most so many times the cheapest of some others; without others, an absolute figure."""

    ours: str
    case: str
    others: Sequence[str]
    most: float


BARS = (
    *(Bar(COMPILED, case, [one], 0.95) for case in (*HEADS, POST) for one in (NGINX, HAPROXY)),
    *(Bar(COMPILED, case, TUNED, 1.05) for case in BODIES),
    *(Bar(PURE, case, [AIOHTTP], 0.5) for case in (*HEADS, *BODIES, POST)),
    Bar(COMPILED, IDLE, (), IDLE_BYTES),
)


class Verdict(BaseModel):
    """A bar, and the figure that was measured."""

    ours: str
    case: str
    others: list[str]
    most: float
    found: float | None  # None: one of the contenders was not measured
    kept: bool | None


def judge(summaries: Sequence[Summary]) -> list[Verdict]:
    """A verdict on every bar whose case was measured."""
    costs = {(line.case, line.contender): cost(line) for line in summaries}
    cases = {line.case for line in summaries}
    return [_verdict(bar, costs) for bar in BARS if bar.case in cases]


def _verdict(bar: Bar, costs: dict[tuple[str, str], float | None]) -> Verdict:
    ours = costs.get((bar.case, bar.ours))
    theirs = [costs.get((bar.case, other)) for other in bar.others]
    found = ratio(ours, _least(theirs)) if bar.others else ours
    kept = None if found is None else found <= bar.most
    return Verdict(
        ours=bar.ours,
        case=bar.case,
        others=list(bar.others),
        most=bar.most,
        found=found,
        kept=kept,
    )


def _least(costs: Iterable[float | None]) -> float | None:
    """The least value; None unless all are known, as the missing one may be the least."""
    known = list(costs)
    return None if None in known else min(one for one in known if one is not None)
