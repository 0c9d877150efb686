"""The table of a case, as cells of text: the code that shows them need not know their meaning."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from steelyard.bench.balancer.cases import CASES
from steelyard.bench.balancer.contenders import HAPROXY, NGINX, contenders
from steelyard.bench.balancer.result import Result
from steelyard.bench.balancer.summary import Summary
from steelyard.bench.cells import UNKNOWN, number, percent, remarks

TIMED = (
    "", "CPU µs/request", "±", "user", "system", "× nginx", "× HAProxy", "× best 64 KiB",
    "requests/s", "p50 ms", "p99 ms", "memory MB", "remarks",
)  # fmt: skip
RECONNECTS = 10  # per 1,000 requests: a proxy that does not keep its connections pays for new ones
IDLE = ("", "bytes/connection", "±", "× nginx", "× HAProxy", "memory MB", "remarks")


class Table(NamedTuple):
    """The table of one case."""

    title: str
    columns: Sequence[str]
    rows: list[list[str]]


def tables(told: Result) -> list[Table]:
    """A table for each case that was measured, or could not be."""
    cases = {line.case for line in told.summaries}
    cases |= {one.case for one in told.report.absences if one.case}
    return [_table(told, case.name, case.title) for case in CASES if case.name in cases]


def _table(told: Result, case: str, title: str) -> Table:
    lines = {line.contender: line for line in told.summaries if line.case == case}
    reasons = {
        one.contender: one.reason
        for one in told.report.absences
        if one.case in (case, None) and one.contender not in lines
    }
    idle = any(line.idle_bytes is not None for line in lines.values())
    columns = IDLE if idle else TIMED
    rows = []
    for name in _order(lines.keys() | reasons.keys()):
        if name in lines:
            rows.append(_idle_row(lines[name]) if idle else _timed_row(lines[name]))
        else:
            rows.append([name, *[UNKNOWN] * (len(columns) - 2), reasons[name]])
    return Table(title, columns, rows)


def _order(names: set[str]) -> list[str]:
    ranks = {one.name: rank for rank, one in enumerate(contenders())}
    return sorted(names, key=lambda name: (ranks.get(name, len(ranks)), name))


def _timed_row(line: Summary) -> list[str]:
    return [
        line.contender,
        number(line.cpu_us, 1),
        percent(line.spread),
        number(line.user_us, 1),
        number(line.system_us, 1),
        *_ratios(line),
        number(line.to_tuned, 2),
        number(line.rate, 0),
        number(line.p50_us, 2, 1e-3),
        number(line.p99_us, 2, 1e-3),
        number(line.memory, 1, 1e-6),
        _remarks(line),
    ]


def _remarks(line: Summary) -> str:
    found = [remarks(line.errors, line.disturbed, line.rounds)]
    if (line.reconnects or 0) > RECONNECTS:
        found.append(f"{line.reconnects:.0f} new connections to the backend per 1,000 requests")
    return ", ".join(filter(None, found))


def _idle_row(line: Summary) -> list[str]:
    return [
        line.contender,
        number(line.idle_bytes, 0),
        percent(line.spread),
        *_ratios(line),
        number(line.memory, 1, 1e-6),
        remarks(line.errors, line.disturbed, line.rounds),
    ]


def _ratios(line: Summary) -> list[str]:
    return [_ratio(line, NGINX), _ratio(line, HAPROXY)]


def _ratio(line: Summary, other: str) -> str:
    return number(1.0 if line.contender == other else line.ratios.get(other), 2)
