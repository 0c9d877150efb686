"""`steelyard bench select`: the cost of a pick, and its growth with the number of members."""

from __future__ import annotations

import shlex
import sys
from typing import Annotated

import typer

from steelyard.bench.markdown import write_section
from steelyard.bench.select.bench import SelectWish, measure
from steelyard.bench.select.cases import FEW, SIZES
from steelyard.bench.select.table import NAME, page, tables
from steelyard.cli.bench_common import WriteOption, show_cells, show_notes
from steelyard.cli.common import JsonOption, Messages, print_json
from steelyard.cli.watch import RichWatcher


def bench_select(
    rounds: Annotated[int, typer.Option(min=1, max=1000, help="Rounds per case.")] = 15,
    seconds: Annotated[float, typer.Option(min=0.001, max=10, help="Length of a sample.")] = 0.03,
    most: Annotated[
        int, typer.Option(min=FEW, metavar="MEMBERS", help="Size of the largest fleet.")
    ] = SIZES[-1],
    json: JsonOption = False,
    write: WriteOption = None,
) -> None:
    """Measure ns per pick of every selection policy, compiled and pure, up to 100,000 members."""
    wish = SelectWish(rounds, seconds, most, shlex.join(["steelyard", *sys.argv[1:]]))
    console = Messages()
    with RichWatcher(console) as watcher:
        told = measure(wish, watcher)
    if json:
        print_json(told)
    else:
        for table in tables(told):
            show_cells(table.title, table.columns, table.rows)
        show_notes(told.notes)
    if write is not None:
        write_section(write, NAME, page(told))
        console.print(f"wrote {write}", markup=False)
