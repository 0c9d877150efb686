"""`steelyard bench soak`: no request may fail while workers come and go."""

from __future__ import annotations

import shlex
import sys
from typing import Annotated

import typer

from steelyard.bench.markdown import write_section
from steelyard.bench.soak.soak import SoakWish, soak
from steelyard.bench.soak.table import COLUMNS, NAME, page, rows
from steelyard.cli.bench_common import InstallOption, WriteOption, show_cells
from steelyard.cli.common import JsonOption, Messages, print_json
from steelyard.cli.watch import RichWatcher


def bench_soak(
    seconds: Annotated[int, typer.Option(min=5, max=3600, help="Length of the load.")] = 60,
    rate: Annotated[
        int, typer.Option(min=0, help="Requests per second; 0: as many as possible.")
    ] = 0,
    connections: Annotated[
        int, typer.Option(min=1, max=1000, help="Connections of the client.")
    ] = 64,
    install: InstallOption = True,
    json: JsonOption = False,
    write: WriteOption = None,
) -> None:
    """Load four workers while some are added, drained and killed; fail if a request fails."""
    command = shlex.join(["steelyard", *sys.argv[1:]])
    console = Messages()
    with RichWatcher(console) as watcher:
        told = soak(SoakWish(seconds, rate, connections, install, command), watcher)
    if json:
        print_json(told)
    else:
        show_cells(f"soak, {told.build}", COLUMNS, rows(told))
    if write is not None:
        write_section(write, NAME, page(told))
        console.print(f"wrote {write}", markup=False)
    if not told.good:
        raise typer.Exit(1)
