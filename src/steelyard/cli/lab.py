"""`steelyard lab`: published results and policies, simulated with the code that ships."""

from __future__ import annotations

from typing import Annotated

import typer

from steelyard.cli.common import JsonOption
from steelyard.cli.lab_common import Lab, OutOption, PageOption, SeedOption
from steelyard.cli.lab_compare import lab_compare
from steelyard.cli.lab_scaling import lab_scaling


def lab_app() -> typer.Typer:
    """Build the group of commands."""
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
    requests: Annotated[int, typer.Option(min=1000, help="Requests per case.")] = 1_000_000,
    seed: SeedOption = 1,
    json: JsonOption = False,
    out: OutOption = None,
    page: PageOption = None,
) -> None:
    """Compare the simulator with closed forms (M/M/c) and published figures (two choices)."""
    lab = Lab("validate", json, out, page)
    lab.run(lab.module.Validate(requests=requests, seed=seed))


def lab_efficiency(
    requests: Annotated[int, typer.Option(min=100, help="Requests per run.")] = 10_000,
    runs: Annotated[
        int, typer.Option(min=2, max=10_000, help="Runs, each with its own seed.")
    ] = 100,
    seed: SeedOption = 1,
    json: JsonOption = False,
    out: OutOption = None,
    page: PageOption = None,
) -> None:
    """Measure how exact the shares of weighted choices are: the paper's section 3.5."""
    lab = Lab("efficiency", json, out, page)
    lab.run(lab.module.Efficiency(requests=requests, runs=runs, seed=seed))


def lab_makespan(
    runs: Annotated[
        int, typer.Option(min=2, max=10_000, help="Runs, each with its own seed.")
    ] = 50,
    tasks: Annotated[
        int, typer.Option(min=10_000, help="The largest number of tasks.")
    ] = 1_000_000,
    requests: Annotated[
        int, typer.Option(min=100, help="Requests per run with stale data.")
    ] = 20_000,
    seed: SeedOption = 1,
    json: JsonOption = False,
    out: OutOption = None,
    page: PageOption = None,
) -> None:
    """Compare how far policies overload their fullest worker, and the cost of stale data.

    This is section 8 of the paper.
    """
    lab = Lab("makespan", json, out, page)
    lab.run(lab.module.Makespan(runs=runs, tasks=tasks, requests=requests, seed=seed))


def lab_timeseries(
    runs: Annotated[
        int, typer.Option(min=2, max=10_000, help="Runs, each with its own seed.")
    ] = 100,
    seconds: Annotated[int, typer.Option(min=10, max=3600, help="Length in virtual time.")] = 60,
    load: Annotated[
        float, typer.Option(min=0.05, max=0.95, help="Share of the workers' capacity.")
    ] = 0.5,
    seed: SeedOption = 1,
    json: JsonOption = False,
    out: OutOption = None,
    page: PageOption = None,
) -> None:
    """Show utilization from queue to queue, and which workers get the next requests.

    This is section 3.5.3 of the paper.
    """
    lab = Lab("timeseries", json, out, page)
    lab.run(lab.module.Timeseries(runs=runs, seconds=seconds, load=load, seed=seed))
