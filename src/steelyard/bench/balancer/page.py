"""The section of docs/benchmarks.md: how it was measured, then a table per case."""

from __future__ import annotations

from steelyard.bench.balancer.summary import Summaries
from steelyard.bench.balancer.table import tables
from steelyard.bench.markdown import markdown_table

NAME = "balancer"


def page(told: Summaries) -> str:
    """In Markdown."""
    parts = ["## Cost per request", _setting(told)]
    parts += [f"Note: {note}" for note in told.report.notes]
    for table in tables(told):
        parts += [f"### {table.title}", markdown_table(table.columns, table.rows)]
    return "\n\n".join(parts)


def _setting(told: Summaries) -> str:
    setting = told.report.setting
    versions = ", ".join(f"{name} {version}" for name, version in setting.versions.items())
    return f"""{setting.date}, {setting.machine}. Command: `{setting.command}`.

{setting.rounds} interleaved rounds of {setting.seconds} s (idle connections: at most 3), wrk with \
{setting.connections} connections. Proxy on one core with one worker or thread, wrk and the \
backend (nginx) on another. All add X-Forwarded-For, X-Forwarded-Proto and Via, log nothing and \
keep connections alive. CPU is user + system of all processes of the proxy. Figures are medians \
over the rounds, ± half the distance of the quartiles; ratios are of medians. Contenders ending in \
`-64k` have 64 KiB buffers.

Versions: {versions}."""
