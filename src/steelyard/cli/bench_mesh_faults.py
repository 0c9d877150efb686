"""`steelyard bench mesh-faults`: the cost of node failures to a job."""

from __future__ import annotations

import shlex
import sys
from typing import Annotated

import typer

from steelyard.bench.markdown import write_section
from steelyard.bench.mesh.table import FAULT_COLUMNS, FAULTS, fault_page, fault_rows
from steelyard.cli.bench_common import WriteOption, chosen, show_cells
from steelyard.cli.common import JsonOption, Messages, print_json
from steelyard.cli.mesh_common import load
from steelyard.cli.watch import RichWatcher


def bench_mesh_faults(
    only: Annotated[
        str | None, typer.Option(metavar="NAME,…", help="The faults to measure; by default all.")
    ] = None,
    json: JsonOption = False,
    write: WriteOption = None,
) -> None:
    """Kill, freeze, slow down and poison real nodes; status 1 if a bar is missed or a unit lost."""
    load("client")  # raises an error that names a library which is not installed
    from steelyard.bench.mesh.faults import SCENARIOS, measure_faults

    scenarios = chosen("fault", only, {one.__name__: one for one in SCENARIOS})
    console = Messages()
    with RichWatcher(console) as watcher:
        told = measure_faults(shlex.join(["steelyard", *sys.argv[1:]]), watcher, scenarios)
    if json:
        print_json(told)
    else:
        show_cells("faults", FAULT_COLUMNS, fault_rows(told.findings))
    if write is not None:
        write_section(write, FAULTS, fault_page(told))
        console.print(f"wrote {write}", markup=False)
    if not all(one.kept and one.answered_once for one in told.findings):
        raise typer.Exit(1)
