"""`steelyard bench balancer`: what a request costs, ours and others'."""

from __future__ import annotations

import shlex
import sys
from typing import Annotated

import typer

from steelyard.bench.balancer import page
from steelyard.bench.balancer.bench import Wish, measure
from steelyard.bench.balancer.cases import CASES
from steelyard.bench.balancer.contenders import contenders
from steelyard.bench.balancer.summary import Summaries, summarise
from steelyard.bench.balancer.table import tables
from steelyard.bench.markdown import write_section
from steelyard.cli.bench_common import InstallOption, WriteOption, chosen, show_cells, show_notes
from steelyard.cli.common import JsonOption, Messages, print_json
from steelyard.cli.watch import RichWatcher


def bench_balancer(
    rounds: Annotated[int, typer.Option(min=1, max=100, help="Of each contender and case.")] = 9,
    seconds: Annotated[int, typer.Option(min=1, max=60, help="Of one round.")] = 2,
    connections: Annotated[int, typer.Option(min=1, max=1000, help="Of the client.")] = 64,
    only: Annotated[
        str | None, typer.Option(metavar="NAME,…", help="Contenders; by default all.")
    ] = None,
    case: Annotated[
        str | None, typer.Option(metavar="NAME,…", help="Cases; by default all.")
    ] = None,
    install: InstallOption = True,
    json: JsonOption = False,
    write: WriteOption = None,
) -> None:
    """CPU per request, rate, latency and memory: we, nginx, HAProxy, Caddy, an aiohttp proxy."""
    wish = Wish(
        contenders=chosen("contender", only, {one.name: one for one in contenders()}),
        cases=chosen("case", case, {one.name: one for one in CASES}),
        rounds=rounds,
        seconds=seconds,
        connections=connections,
        install=install,
        command=shlex.join(["steelyard", *sys.argv[1:]]),
    )
    console = Messages()
    with RichWatcher(console) as watcher:
        told = summarise(measure(wish, watcher))
    if json:
        print_json(told)
    else:
        _show(told)
    if write is not None:
        write_section(write, page.NAME, page.page(told))
        console.print(f"wrote {write}", markup=False)


def _show(told: Summaries) -> None:
    for table in tables(told):
        show_cells(table.title, table.columns, table.rows)
    show_notes(told.report.notes)
