"""`steelyard bench instructions`: what a request costs our balancer, in instructions."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Annotated

import typer
from pydantic import BaseModel

from steelyard.bench.balancer.cases import Case
from steelyard.bench.instructions import CHOICES, Count, Tree, measure, named
from steelyard.cli.bench_common import chosen, show_cells
from steelyard.cli.common import JsonOption, Messages, print_json
from steelyard.cli.watch import RichWatcher

HERE = "here"


class Counts(BaseModel):
    """Every tree's count in every case."""

    counts: list[Count]


def bench_instructions(
    beside: Annotated[
        list[Path] | None,
        typer.Option(
            metavar="FOLDER", help="Another checkout, built, to compare with. Repeatable."
        ),
    ] = None,
    case: Annotated[
        str | None, typer.Option(metavar="NAMES", help=f"Any of {','.join(CHOICES)}.")
    ] = None,
    requests: Annotated[
        int, typer.Option(min=10, max=100_000, help="How many requests a round counts.")
    ] = 500,
    rounds: Annotated[int, typer.Option(min=1, max=100, help="Their median is told.")] = 3,
    json: JsonOption = False,
) -> None:
    """Count instructions per request of our balancer (valgrind); other load moves them little."""
    trees = [*map(named, beside or []), Tree(HERE)]
    cases = chosen("case", case, CHOICES)
    with RichWatcher(Messages()) as watcher:
        counts = measure(trees, cases, requests, rounds, watcher)
    if json:
        print_json(Counts(counts=counts))
        return
    columns, rows = _table(trees, cases, counts)
    show_cells("instructions per request, user mode", columns, rows)


def _table(
    trees: Sequence[Tree], cases: Sequence[Case], counts: Sequence[Count]
) -> tuple[list[str], list[list[str]]]:
    """A column for each tree, and the ratio of this one to the first where there are several."""
    found = {(one.case, one.tree): one.instructions for one in counts}
    columns = ["case", *(tree.name for tree in trees)]
    rows = []
    for case in cases:
        figures = [found[case.name, tree.name] for tree in trees]
        rows.append([case.title, *(f"{figure:,.0f}" for figure in figures)])
        if len(trees) > 1:
            rows[-1].append(f"{figures[-1] / figures[0]:.3f}")
    return columns + [f"{HERE} : {trees[0].name}"] * (len(trees) > 1), rows
