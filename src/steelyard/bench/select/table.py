"""The tables of the select bench, and its section of docs/benchmarks.md."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from steelyard.bench.cells import UNKNOWN, number
from steelyard.bench.select.cases import (
    ARTICLE,
    BASELINE,
    FEW,
    MANY,
    RING,
    SIZES,
    TABLE,
    THREADS,
    Build,
    Kind,
)
from steelyard.bench.select.report import Line, SelectReport, Verdict
from steelyard.bench.stats import ratio
from steelyard.markdown import markdown_table
from steelyard.select import KEYED, POLICIES
from steelyard.select.ring import default_size

NAME = "select"


class Cells(NamedTuple):
    """One table."""

    title: str
    columns: tuple[str, ...]
    rows: list[list[str]]


def tables(told: SelectReport) -> list[Cells]:
    """All tables: the bars, the article's table, growth, all policies."""
    return [
        Cells("The bars", ("", "at most", "measured", "verdict"), list(map(_bar, told.bars))),
        *(_article(told, threads) for threads in (1, THREADS)),
        _growth(told),
        _policies(told),
    ]


def page(told: SelectReport) -> str:
    """The section as Markdown."""
    setting = f"""{told.date}, {told.machine}. Command: `{told.command}`.

{told.rounds} interleaved rounds, each sample about {told.seconds * 1e3:.0f} ms, both builds in \
processes of their own. CPU time per pick, the empty loop taken off; as BenchmarkDotNet has it, \
error is half of the 99.9 % interval, and samples far above the others are left out of the mean. \
Ratios are of medians. Picks/s are of all threads by the clock on the wall, loop included. From \
compiled code a pick is a call of `Walk.step` (`src/steelyard/select/walk.pxd`) in a loop of \
Cython (`src/steelyard/bench/select/strides.pyx`), the loop included. Reading a list is the \
control: `slots[number]` of a plain list of the same members in random order, loop included; what \
it costs more for many of them is the memory's doing. The article's figures are of .NET on another \
machine: only ratios compare."""
    parts = ["## What a pick costs", setting, *(f"Note: {note}" for note in told.notes)]
    for table in tables(told):
        parts += [f"### {table.title}", markdown_table(table.columns, table.rows)]
    return "\n\n".join(parts)


def _bar(bar: Verdict) -> list[str]:
    words = {True: "kept", False: "NOT KEPT", None: "not measured"}
    return [bar.what, f"{bar.most:.2f}", number(bar.found, 3), words[bar.kept]]


def _article(told: SelectReport, threads: int) -> Cells:
    columns = ("", "mean ns", "error", "stddev", "ratio", "picks/s", "article ns", "article ratio")
    rows = [
        _article_row(told, build, policy, threads)
        for build in _builds(told)
        for policy in TABLE
        if told.find(build, Kind.PICK, policy, threads=threads)
    ]
    title = f"{FEW} connections, {threads} thread{'s' if threads > 1 else ''}"
    return Cells(title, columns, rows)


def _article_row(told: SelectReport, build: Build, policy: str, threads: int) -> list[str]:
    line = told.find(build, Kind.PICK, policy, threads=threads)
    base = told.find(build, Kind.PICK, BASELINE, threads=threads)
    article = ARTICLE.get(policy) if threads == 1 else None
    return [
        f"{build}: {policy}",
        *_cost(line),
        number(ratio(_median(line), _median(base)), 3),
        number(line.per_second if line else None, 0),
        number(article, 2),
        UNKNOWN if article is None else f"{article / ARTICLE[BASELINE]:.2f}",
    ]


def _growth(told: SelectReport) -> Cells:
    """The table of the ring's growth, from 8 members to 100,000."""
    columns = (
        "members",
        *(f"{build}: pick ns" for build in _builds(told)),
        "from compiled code ns",
        "pure: reading a list ns",
        *(f"{build}: rebuild ms" for build in _builds(told)),
        "slots",
    )
    rows = [
        [f"{size:,}", *_growth_cells(told, size), f"{default_size(size):,}"]
        for size in SIZES
        if told.find(_builds(told)[0], Kind.PICK, RING, size)
    ]
    return Cells("The ring, as members grow", columns, rows)


def _growth_cells(told: SelectReport, size: int) -> Iterator[str]:
    builds = _builds(told)
    for build in builds:
        yield number(_median(told.find(build, Kind.PICK, RING, size)), 1)
    yield number(_median(told.find(Build.COMPILED, Kind.STRIDE, RING, size)), 1)
    yield number(_median(told.find(Build.PURE, Kind.READ, RING, size)), 1)
    for build in builds:
        yield number(_median(told.find(build, Kind.REBUILD, RING, size)), 3, 1e-6)


def _policies(told: SelectReport) -> Cells:
    """The table of all policies."""
    builds = _builds(told)
    columns = ("", *(f"{build}: ns of {size:,}" for build in builds for size in (FEW, MANY)), "")
    rows = [
        [policy, *(number(_median(told.find(build, Kind.PICK, policy, size)), 0)
                   for build in builds for size in (FEW, MANY)), _remark(policy)]
        for policy in (*POLICIES, *KEYED)
    ]  # fmt: skip
    return Cells("A pick of every policy, one thread", columns, rows)


def _remark(policy: str) -> str:
    return "looks at all" if policy in ("least_in_flight", *KEYED) else ""


def _cost(line: Line | None) -> list[str]:
    if line is None:
        return [UNKNOWN] * 3
    return [number(line.mean, 1), number(line.error, 2), number(line.deviation, 2)]


def _median(line: Line | None) -> float | None:
    return None if line is None else line.median


def _builds(told: SelectReport) -> list[Build]:
    there = {line.case.build for line in told.lines}
    return [build for build in Build if build in there]
