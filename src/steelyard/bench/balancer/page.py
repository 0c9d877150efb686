"""The section of docs/benchmarks.md: how it was measured, the overview, then a table per case."""

from __future__ import annotations

from steelyard.bench.balancer.overview import bars, ratios
from steelyard.bench.balancer.result import Result
from steelyard.bench.balancer.table import tables
from steelyard.markdown import markdown_table

NAME = "balancer"


def page(told: Result) -> str:
    """The section as Markdown."""
    parts = ["## Cost per request", _setting(told)]
    parts += [f"Note: {note}" for note in told.report.notes]
    for table in (bars(told), ratios(told), *tables(told)):
        if table.rows:
            parts += [f"### {table.title}", markdown_table(table.columns, table.rows)]
    return "\n\n".join(parts)


def _setting(told: Result) -> str:
    setting = told.report.setting
    versions = ", ".join(f"{name} {version}" for name, version in setting.versions.items())
    before, after = setting.load
    return f"""{setting.date}, {setting.machine}. Command: `{setting.command}`.

{setting.rounds} interleaved rounds of {setting.seconds} s, wrk with {setting.connections} \
connections. {_quiet(told)} The load average was {before} before and {after} after, our own load \
included.

Versions: {versions}."""


def _quiet(told: Result) -> str:
    samples = told.report.samples
    disturbed = sum(bool(one.disturbed) for one in samples)
    if not disturbed:
        return "No round was disturbed by other processes."
    return f"{disturbed} of {len(samples)} rounds were disturbed by other processes."
