"""`steelyard bench`: measurements against other tools, on this machine."""

from __future__ import annotations

import typer

from steelyard.cli.bench_balancer import bench_balancer
from steelyard.cli.bench_instructions import bench_instructions
from steelyard.cli.bench_lab import bench_lab
from steelyard.cli.bench_mesh import bench_mesh
from steelyard.cli.bench_mesh_faults import bench_mesh_faults
from steelyard.cli.bench_select import bench_select
from steelyard.cli.bench_soak import bench_soak
from steelyard.cli.bench_tail import bench_tail
from steelyard.cli.bench_tls import bench_tls


def bench_app() -> typer.Typer:
    """Build the group of commands."""
    app = typer.Typer(
        help="Measure balancer, picks and mesh against other tools, on this machine, in one run.",
        no_args_is_help=True,
    )
    app.command("balancer")(bench_balancer)
    app.command("instructions")(bench_instructions)
    app.command("tail")(bench_tail)
    app.command("select")(bench_select)
    app.command("lab")(bench_lab)
    app.command("mesh")(bench_mesh)
    app.command("mesh-faults")(bench_mesh_faults)
    app.command("soak")(bench_soak)
    app.command("tls")(bench_tls)
    return app
