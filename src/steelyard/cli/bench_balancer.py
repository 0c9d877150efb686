"""`steelyard bench balancer`: the cost of a request in our balancer and in others."""

from __future__ import annotations

import shlex
import sys
from typing import Annotated

import typer

from steelyard.bench.balancer import page
from steelyard.bench.balancer.bench import CROWD, Wish, measure
from steelyard.bench.balancer.cases import CASES
from steelyard.bench.balancer.contenders import contenders
from steelyard.bench.balancer.overview import bars, ratios
from steelyard.bench.balancer.result import Result, conclude
from steelyard.bench.balancer.table import tables
from steelyard.bench.markdown import write_section
from steelyard.cli.bench_common import InstallOption, WriteOption, chosen, show_cells, show_notes
from steelyard.cli.common import JsonOption, Messages, print_json
from steelyard.cli.watch import RichWatcher

ROUNDS, QUICK_ROUNDS = 9, 3
QUICK_CROWD = 1000


def bench_balancer(
    rounds: Annotated[
        int, typer.Option(min=1, max=100, help="Rounds per contender and case.")
    ] = ROUNDS,
    seconds: Annotated[int, typer.Option(min=1, max=60, help="Length of a round.")] = 1,
    connections: Annotated[
        int, typer.Option(min=1, max=1000, help="Connections of the client.")
    ] = 64,
    only: Annotated[
        str | None, typer.Option(metavar="NAME,…", help="Contenders to measure; by default all.")
    ] = None,
    case: Annotated[
        str | None, typer.Option(metavar="NAME,…", help="Cases to measure; by default all.")
    ] = None,
    quick: Annotated[
        bool,
        typer.Option("--quick", help=f"{QUICK_ROUNDS} rounds, {QUICK_CROWD} idle connections."),
    ] = False,
    install: InstallOption = True,
    json: JsonOption = False,
    markdown: Annotated[bool, typer.Option("--markdown", help="Print Markdown.")] = False,
    write: WriteOption = None,
) -> None:
    """Measure CPU per request, rate, latency and memory beside nginx, HAProxy, Caddy, aiohttp."""
    wish = Wish(
        contenders=chosen("contender", only, {one.name: one for one in contenders()}),
        cases=chosen("case", case, {one.name: one for one in CASES}),
        rounds=min(rounds, QUICK_ROUNDS) if quick else rounds,
        seconds=seconds,
        connections=connections,
        crowd=QUICK_CROWD if quick else CROWD,
        install=install,
        command=shlex.join(["steelyard", *sys.argv[1:]]),
    )
    console = Messages()
    with RichWatcher(console) as watcher:
        told = conclude(measure(wish, watcher))
    if json:
        print_json(told)
    elif markdown:
        typer.echo(page.page(told))
    else:
        _show(told)
    if write is not None:
        write_section(write, page.NAME, page.page(told))
        console.print(f"wrote {write}", markup=False)


def _show(told: Result) -> None:
    for table in (*tables(told), ratios(told), bars(told)):
        if table.rows:
            show_cells(table.title, table.columns, table.rows)
    show_notes(told.report.notes)
