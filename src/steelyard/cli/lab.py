"""`steelyard lab`: published results and policies, simulated with what ships."""

from __future__ import annotations

from typing import Annotated

import typer

from steelyard.cli.common import JsonOption
from steelyard.cli.lab_common import Lab, OutOption, PageOption, SeedOption
from steelyard.cli.lab_compare import lab_compare
from steelyard.cli.lab_scaling import lab_scaling


def lab_app() -> typer.Typer:
    """The group of commands."""
    app = typer.Typer(
        help="Simulate policies on virtual time; needs `pip install 'steelyard\\[lab]'`.",
        no_args_is_help=True,
    )
    app.command("validate")(lab_validate)
    app.command("efficiency")(lab_efficiency)
    app.command("makespan")(lab_makespan)
    app.command("timeseries")(lab_timeseries)
    app.command("compare")(lab_compare)
    app.command("scaling")(lab_scaling)
    return app


def lab_validate(
    requests: Annotated[int, typer.Option(min=1000, help="For each case.")] = 1_000_000,
    seed: SeedOption = 1,
    json: JsonOption = False,
    out: OutOption = None,
    page: PageOption = None,
) -> None:
    """The simulator against closed forms (M/M/c) and published figures (two choices)."""
    lab = Lab("validate", json, out, page)
    lab.run(lab.module.Validate(requests=requests, seed=seed))


def lab_efficiency(
    requests: Annotated[int, typer.Option(min=100, help="In each run.")] = 10_000,
    runs: Annotated[int, typer.Option(min=2, max=10_000, help="With a seed each.")] = 100,
    seed: SeedOption = 1,
    json: JsonOption = False,
    out: OutOption = None,
    page: PageOption = None,
) -> None:
    """How true the shares of weighted choices are: the paper's two scenarios (section 3.5)."""
    lab = Lab("efficiency", json, out, page)
    lab.run(lab.module.Efficiency(requests=requests, runs=runs, seed=seed))


def lab_makespan(
    runs: Annotated[int, typer.Option(min=2, max=10_000, help="With a seed each.")] = 50,
    tasks: Annotated[int, typer.Option(min=10_000, help="At most so many.")] = 1_000_000,
    requests: Annotated[int, typer.Option(min=100, help="In each run with old news.")] = 20_000,
    seed: SeedOption = 1,
    json: JsonOption = False,
    out: OutOption = None,
    page: PageOption = None,
) -> None:
    """Who piles up least, and what old snapshots cost (section 8)."""
    lab = Lab("makespan", json, out, page)
    lab.run(lab.module.Makespan(runs=runs, tasks=tasks, requests=requests, seed=seed))


def lab_timeseries(
    runs: Annotated[int, typer.Option(min=2, max=10_000, help="With a seed each.")] = 100,
    seconds: Annotated[int, typer.Option(min=10, max=3600, help="Of virtual time.")] = 60,
    load: Annotated[
        float, typer.Option(min=0.05, max=0.95, help="Of what the workers can do.")
    ] = 0.5,
    seed: SeedOption = 1,
    json: JsonOption = False,
    out: OutOption = None,
    page: PageOption = None,
) -> None:
    """Utilization from queue to queue, and who gets the next requests (section 3.5.3)."""
    lab = Lab("timeseries", json, out, page)
    lab.run(lab.module.Timeseries(runs=runs, seconds=seconds, load=load, seed=seed))
