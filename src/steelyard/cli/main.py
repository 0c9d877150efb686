"""The `steelyard` command: collects its commands, and prints errors as sentences."""

from __future__ import annotations

import errno
import os
import sys
from typing import Annotated

import typer

import steelyard
from steelyard import purity
from steelyard.cli.lazy import LazyGroup
from steelyard.errors import Fault, SteelyardError

# errors of a full disk or file, whatever standard output is
FULL = (errno.ENOSPC, errno.EDQUOT, errno.EIO, errno.EFBIG)


def build_app() -> typer.Typer:
    """Build the application with all commands."""
    app = typer.Typer(
        name="steelyard",
        help="Spreads work over workers: starts, measures, scales, drains and heals them.",
        no_args_is_help=True,
        add_completion=False,
        pretty_exceptions_enable=False,
        context_settings={"help_option_names": ["-h", "--help"]},
    )
    app.callback(cls=LazyGroup)(_options)
    return app


def _show_version(wanted: bool) -> None:
    if wanted:
        typer.echo(f"steelyard {steelyard.__version__} ({purity.build_name()})")
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
    """Run the command line; print an error as a sentence with a hint, and set the exit status."""
    try:
        build_app()()
    except SteelyardError as error:
        typer.secho("error: ", err=True, fg="red", nl=False)
        typer.echo(str(error), err=True)
        sys.exit(2 if error.fault is Fault.USER else 1)
    except OSError as error:
        if error.errno not in FULL:
            raise
        # otherwise Python complains again when it exits
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        typer.echo(f"error: standard output cannot be written: {error.strerror}", err=True)
        sys.exit(1)
