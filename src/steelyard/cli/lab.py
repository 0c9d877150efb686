"""`steelyard lab`: published results and policies, simulated with what ships."""

from __future__ import annotations

from typing import Annotated

import typer

from steelyard.cli.common import JsonOption
from steelyard.cli.lab_common import Lab, OutOption, PageOption, SeedOption


def lab_app() -> typer.Typer:
    """The group of commands."""
    app = typer.Typer(
        help="Simulate policies on virtual time; needs `pip install 'steelyard[lab]'`.",
        no_args_is_help=True,
    )
    app.command("validate")(lab_validate)
    return app


def lab_validate(
    requests: Annotated[int, typer.Option(min=1000, help="For each case.")] = 2_000_000,
    seed: SeedOption = 1,
    json: JsonOption = False,
    out: OutOption = None,
    page: PageOption = None,
) -> None:
    """The simulator against closed forms (M/M/c) and published figures (two choices)."""
    lab = Lab("validate", json, out, page)
    lab.run(lab.module.Validate(requests=requests, seed=seed))
