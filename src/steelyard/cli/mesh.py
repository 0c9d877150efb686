"""`steelyard mesh`: units of work over nodes, with no broker and no head node."""

from __future__ import annotations

import typer

from steelyard.cli.mesh_certs import mesh_certs
from steelyard.cli.mesh_run import mesh_run
from steelyard.cli.mesh_status import mesh_status
from steelyard.cli.mesh_worker import mesh_worker


def mesh_app() -> typer.Typer:
    """Build the group of commands."""
    app = typer.Typer(
        help="Run units of work on nodes that pull them, with no broker and no head node.",
        no_args_is_help=True,
    )
    app.command("worker")(mesh_worker)
    app.command("run")(mesh_run)
    app.command("status")(mesh_status)
    app.command("certs")(mesh_certs)
    return app
