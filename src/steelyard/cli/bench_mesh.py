"""`steelyard bench mesh`: the cost of a unit, beside other ways to run many units."""

from __future__ import annotations

import shlex
import sys
from typing import Annotated

import typer

from steelyard.bench.markdown import write_section
from steelyard.bench.mesh.bench import MeshWish, measure
from steelyard.bench.mesh.contenders import contenders
from steelyard.bench.mesh.report import Case
from steelyard.bench.mesh.table import COLUMNS, NAME, bar_rows, cases, page, rows
from steelyard.cli.bench_common import InstallOption, WriteOption, chosen, show_cells, show_notes
from steelyard.cli.common import JsonOption, Messages, print_json
from steelyard.cli.watch import RichWatcher


def bench_mesh(
    rounds: Annotated[int, typer.Option(min=1, max=100, help="Rounds per contender.")] = 3,
    short: Annotated[int, typer.Option(min=1, help="Number of units of 1 ms.")] = 2000,
    long: Annotated[int, typer.Option(min=1, help="Number of units of 20 ms.")] = 200,
    only: Annotated[
        str | None, typer.Option(metavar="NAME;…", help="Contenders to measure; by default all.")
    ] = None,
    install: InstallOption = True,
    json: JsonOption = False,
    write: WriteOption = None,
) -> None:
    """Measure units/s and overhead per unit: the mesh, pools, Ray, dramatiq, Celery and Dask."""
    wish = MeshWish(
        contenders=chosen("contender", only, contenders(), ";"),
        short=Case(short, 1.0),
        long=Case(long, 20.0),
        rounds=rounds,
        install=install,
        command=shlex.join(["steelyard", *sys.argv[1:]]),
    )
    console = Messages()
    with RichWatcher(console) as watcher:
        told = measure(wish, watcher)
    if json:
        print_json(told)
    else:
        for case in cases(told):
            show_cells(case, COLUMNS, rows(told, case))
        show_cells("the bars", ("", "bar", "measured", "verdict"), bar_rows(told))
        show_notes(told.notes)
    if write is not None:
        write_section(write, NAME, page(told))
        console.print(f"wrote {write}", markup=False)
