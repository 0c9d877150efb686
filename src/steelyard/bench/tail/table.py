"""The table of the tail bench, and its section of docs/benchmarks.md."""

from __future__ import annotations

from steelyard.bench.cells import UNKNOWN, number, percent, remarks
from steelyard.bench.stats import median
from steelyard.bench.tail.report import Line, TailReport
from steelyard.config.settings import Gateway
from steelyard.markdown import markdown_table

NAME = "tail"
COLUMNS = ("", "p50 ms", "p99 ms", "±", "η", "remarks")


def rows(report: TailReport) -> list[list[str]]:
    """A row for each contender, whether it was measured or not."""
    absent = [[name, *[UNKNOWN] * 4, why] for name, why in report.absences.items()]
    return [_row(line) for line in report.lines] + absent


def page(report: TailReport) -> str:
    """The section as Markdown."""
    rates = " : ".join(f"{rate:.0f}" for rate in report.rates)
    weights = " : ".join(map(str, report.weights))
    setting = (
        f"{report.date}, {report.machine}. Command: `{report.command}`.\n\n"
        f"Four workers with exponential service times, rates {rates} per second, one request at a "
        f"time each; Poisson arrivals at {report.load:.0%} of their sum, open loop; interleaved "
        f"rounds of {report.seconds} s, seed {report.seed}. All proxies were given the weights "
        f"{weights}. {_checked(report)} Times count from when a request was due, to the end of its "
        "answer; one without an answer counts as 10 s at least. Medians over rounds; η = min(r/w) /"
        " max(r/w) over the workers, r requests and w service rate. Our default policy is "
        f"`{Gateway().policy}`."
    )
    notes = [f"Note: {note}" for note in report.notes]
    table = markdown_table(COLUMNS, rows(report))
    return "\n\n".join(["## Tail latency with unequal workers", setting, *notes, table])


def _checked(report: TailReport) -> str:
    """A sentence on whether the client kept its load and its times."""
    load = median([one.load for one in report.rounds]) or 0.0
    late = max((one.late_ms for one in report.rounds if one.late_ms is not None), default=0.0)
    return f"Load as it came: {load:.0%}; 99 % of requests were sent less than {late:.1f} ms late."


def _row(line: Line) -> list[str]:
    return [
        line.contender,
        number(line.p50_ms, 1),
        number(line.p99_ms, 0),
        percent(line.p99_spread),
        number(line.eta, 2),
        remarks(line.errors, line.disturbed, line.rounds),
    ]
