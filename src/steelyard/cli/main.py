"""The `steelyard` command: where its commands come together, and where errors become sentences."""

from __future__ import annotations

import errno
import os
import sys
from typing import Annotated

import typer

import steelyard
from steelyard.cli.agent import agent
from steelyard.cli.balancer import balancer
from steelyard.cli.bench import bench_app
from steelyard.cli.check import check
from steelyard.cli.demo import demo
from steelyard.cli.drain import drain
from steelyard.cli.lab import lab_app
from steelyard.cli.logs import logs
from steelyard.cli.mesh import mesh_app
from steelyard.cli.options import ConfiguredCommand
from steelyard.cli.scale import scale
from steelyard.cli.status import status
from steelyard.cli.up import up
from steelyard.errors import Fault, SteelyardError

# What follows the first word of the command is the command's, options too, with or without `--`.
COMMAND = {"allow_interspersed_args": False}
FULL = (errno.ENOSPC, errno.EDQUOT, errno.EIO, errno.EFBIG)  # whatever standard output is
SERVE, WATCH, PARTS = "Serve", "Watch and steer", "The parts, each alone"
SPREAD, MEASURE = "Without a gateway", "Measure"


def build_app() -> typer.Typer:
    """All commands."""
    app = typer.Typer(
        name="steelyard",
        help="Spreads work over workers: starts, measures, scales, drains and heals them.",
        no_args_is_help=True,
        add_completion=False,
        pretty_exceptions_enable=False,
        context_settings={"help_option_names": ["-h", "--help"]},
    )
    app.callback()(_options)
    app.command(cls=ConfiguredCommand, rich_help_panel=SERVE, context_settings=COMMAND)(up)
    app.command(cls=ConfiguredCommand, rich_help_panel=SERVE)(demo)
    app.command(cls=ConfiguredCommand, rich_help_panel=SERVE, context_settings=COMMAND)(check)
    app.command(rich_help_panel=WATCH)(status)
    app.command(rich_help_panel=WATCH)(scale)
    app.command(rich_help_panel=WATCH)(drain)
    app.command(rich_help_panel=WATCH)(logs)
    app.command(cls=ConfiguredCommand, rich_help_panel=PARTS, context_settings=COMMAND)(agent)
    app.command(cls=ConfiguredCommand, rich_help_panel=PARTS)(balancer)
    app.add_typer(mesh_app(), name="mesh", rich_help_panel=SPREAD)
    app.add_typer(bench_app(), name="bench", rich_help_panel=MEASURE)
    app.add_typer(lab_app(), name="lab", rich_help_panel=MEASURE)
    return app


def _show_version(wanted: bool) -> None:
    if wanted:
        typer.echo(f"steelyard {steelyard.__version__}")
        raise typer.Exit


def _options(
    version: Annotated[
        bool,
        typer.Option(
            "--version", callback=_show_version, is_eager=True, help="Show the version and exit."
        ),
    ] = False,
) -> None:
    """Spreads work over workers: starts, measures, scales, drains and heals them."""


def run() -> None:
    """Run the command line; an error is a sentence with a hint, and an exit status."""
    try:
        build_app()()
    except SteelyardError as error:
        typer.secho("error: ", err=True, fg="red", nl=False)
        typer.echo(str(error), err=True)
        sys.exit(2 if error.fault is Fault.USER else 1)
    except OSError as error:
        if error.errno not in FULL:
            raise
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())  # or Python complains again
        typer.echo(f"error: what was to be printed cannot be written: {error.strerror}", err=True)
        sys.exit(1)
