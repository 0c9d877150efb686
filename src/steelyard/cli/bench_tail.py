"""`steelyard bench tail`: tail latency with unequal workers."""

from __future__ import annotations

import shlex
import sys
from typing import Annotated

import typer

from steelyard.bench.markdown import write_section
from steelyard.bench.tail.bench import TailWish, Weights, measure
from steelyard.bench.tail.contenders import contenders
from steelyard.bench.tail.table import COLUMNS, NAME, page, rows
from steelyard.cli.bench_common import InstallOption, WriteOption, chosen, show_cells, show_notes
from steelyard.cli.common import JsonOption, Messages, print_json
from steelyard.cli.watch import RichWatcher


def bench_tail(
    rounds: Annotated[int, typer.Option(min=1, max=100, help="Rounds per contender.")] = 3,
    seconds: Annotated[int, typer.Option(min=1, max=300, help="Length of a round.")] = 30,
    seed: Annotated[int, typer.Option(help="Seed of arrivals and service times.")] = 1,
    weights: Annotated[
        Weights, typer.Option(help="The weights that the proxies are given.")
    ] = Weights.EQUAL,
    only: Annotated[
        str | None, typer.Option(metavar="NAME,…", help="Contenders to measure; by default all.")
    ] = None,
    install: InstallOption = True,
    json: JsonOption = False,
    write: WriteOption = None,
) -> None:
    """Measure p50, p99 and η of selection policies on workers of rates 100 : 50 : 25 : 5.

    The load is 70 % of what the workers can do.
    """
    wish = TailWish(
        contenders=chosen("contender", only, {one.name: one for one in contenders()}),
        rounds=rounds,
        seconds=seconds,
        seed=seed,
        weights=weights,
        install=install,
        command=shlex.join(["steelyard", *sys.argv[1:]]),
    )
    console = Messages()
    with RichWatcher(console) as watcher:
        told = measure(wish, watcher)
    if json:
        print_json(told)
    else:
        show_cells("tail latency", COLUMNS, rows(told))
        show_notes(told.notes)
    if write is not None:
        write_section(write, NAME, page(told))
        console.print(f"wrote {write}", markup=False)
