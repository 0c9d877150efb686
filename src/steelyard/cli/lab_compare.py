"""`steelyard lab compare`: push or pull, simulated, or on real processes."""

from __future__ import annotations

from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Annotated

import typer

from steelyard.cli.common import JsonOption
from steelyard.cli.lab_common import Lab, OutOption, PageOption, SeedOption
from steelyard.cli.mesh_common import load as load_mesh
from steelyard.errors import UsageError

if TYPE_CHECKING:
    from steelyard.bench.jobs.order import Outcome
    from steelyard.lab.job import Job


def lab_compare(
    units: Annotated[
        int | None, typer.Option(min=1, help="Units of one job; default 2000, or 150 with --real.")
    ] = None,
    nodes: Annotated[
        int | None,
        typer.Option(min=1, max=10_000, help="Nodes; default 16, or 4 with --real."),
    ] = None,
    dying: Annotated[
        float, typer.Option(min=0, max=1, help="Share of the nodes that die during the job.")
    ] = 0.25,
    window: Annotated[int, typer.Option(min=1, help="Units open at the balancer, per node.")] = 4,
    runs: Annotated[
        int | None,
        typer.Option(
            min=2, max=10_000, help="Runs, each with its own seed; default 40, or 3 with --real."
        ),
    ] = None,
    real: Annotated[
        bool,
        typer.Option(
            "--real",
            help="On processes of this machine, for a few minutes, beside the simulation of the "
            "same jobs; one node is killed. Needs `pip install 'steelyard\\[mesh]'`, too.",
        ),
    ] = False,
    seed: SeedOption = 1,
    json: JsonOption = False,
    out: OutOption = None,
    page: PageOption = None,
) -> None:
    """Run the same job pushed by a central balancer and pulled by its nodes (seed 002)."""
    lab = Lab("real" if real else "compare", json, out, page)
    if not real:
        lab.run(
            lab.module.Compare(
                units=units or 2000, nodes=nodes or 16, dying=dying, window=window,
                runs=runs or 40, seed=seed,
            )
        )  # fmt: skip
        return
    load_mesh("client")  # raises an error that names a library which is not installed
    if nodes is not None and not 2 <= nodes <= 64:
        raise UsageError(f"--real with {nodes} nodes", hint="give 2 to 64 nodes, as one is killed")
    lab.run(
        lab.module.Real(
            play=_play, units=units or 150, nodes=nodes or 4, window=window, runs=runs or 3,
            seed=seed,
        )
    )  # fmt: skip


def _play(job: Job, method: str, window: int) -> Outcome:
    """Run one job on processes; the lab's names of push methods are those of policies."""
    from steelyard.bench.jobs.order import Order
    from steelyard.bench.jobs.pulled import pulled
    from steelyard.bench.jobs.pushed import pushed
    from steelyard.lab.real import LINE, PULL

    order = Order(job.works, job.speeds, job.deaths)
    with TemporaryDirectory(prefix="steelyard-job-") as folder:
        if method == PULL:
            return pulled(order, Path(folder))
        policy = "least_in_flight" if method == LINE else method
        return pushed(order, policy, window, method == LINE, Path(folder))
