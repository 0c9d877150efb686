"""An overview of the whole run: the bars, and our cost as a multiple of each other proxy's."""

from __future__ import annotations

from steelyard.bench.balancer.bars import IDLE, Verdict
from steelyard.bench.balancer.cases import CASES
from steelyard.bench.balancer.contenders import OURS, contenders
from steelyard.bench.balancer.result import Result
from steelyard.bench.balancer.table import Table
from steelyard.bench.cells import UNKNOWN, number

VERDICTS = {True: "kept", False: "NOT KEPT", None: "not measured"}
_TITLES = {case.name: case.title for case in CASES}


def bars(told: Result) -> Table:
    """The table of bars: wanted, measured, verdict."""
    rows = [[_aim(one), _figure(one, one.most), _figure(one, one.found), VERDICTS[one.kept]]
            for one in told.bars]  # fmt: skip
    return Table("The bars", ("", "at most", "measured", "verdict"), rows)


def ratios(told: Result) -> Table:
    """The table of ratios, ours over theirs: CPU per request, or memory for idle connections."""
    others = [one.name for one in contenders() if one.name not in OURS]
    rows = [
        [
            f"{line.contender}: {_TITLES[line.case]}",
            *(_cell(line.ratios, name) for name in others),
            "",
        ]
        for line in told.summaries
        if line.contender in OURS
    ]
    columns = ("", *(f"× {name}" for name in others), "")
    return Table("Ours as a multiple of each", columns, rows)


def _aim(one: Verdict) -> str:
    others = " or ".join(one.others)
    against = f", of {others}" if len(one.others) < 2 else f", of the better of {others}"
    return f"{one.ours}: {_TITLES[one.case]}{against if others else ', bytes per connection'}"


def _figure(one: Verdict, value: float | None) -> str:
    return number(value, 0 if one.case == IDLE else 2)


def _cell(known: dict[str, float], name: str) -> str:
    return number(known[name], 2) if name in known else UNKNOWN
