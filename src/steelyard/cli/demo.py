"""`steelyard demo`: serves and scales the built-in application."""

from __future__ import annotations

import typer

from steelyard.cli.options import settings_loader
from steelyard.cli.up import run_up
from steelyard.python import module


def demo(ctx: typer.Context) -> None:
    """Serve the built-in web application, to try Steelyard: look at it, load it, break it."""
    command = tuple(module("steelyard.demo", "--port", "{port}"))
    load = settings_loader(
        ctx, application_name="demo", application_command=command, probe_path="/health"
    )
    run_up(load)
