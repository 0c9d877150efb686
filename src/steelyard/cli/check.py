"""`steelyard check`: is the configuration right, and can this machine run it?"""

from __future__ import annotations

from typing import Annotated

import typer
from pydantic import BaseModel
from rich.markup import escape

from steelyard.cli.common import JsonOption, new_table, output, print_json
from steelyard.cli.findings import Finding, findings
from steelyard.cli.options import settings_from

MARKS = {"ok": "[green]ok[/]", "note": "[yellow]note[/]", "wrong": "[red]wrong[/]"}


class Findings(BaseModel):
    """All findings, and whether none is wrong."""

    ok: bool
    findings: list[Finding]


def check(
    ctx: typer.Context,
    command: Annotated[
        list[str] | None,
        typer.Argument(metavar="-- COMMAND", help="The command of one worker, after `--`."),
    ] = None,
    json: JsonOption = False,
) -> None:
    """Check the configuration and the machine without starting anything."""
    settings = settings_from(ctx, application_command=tuple(command) if command else None)
    found = list(findings(settings))
    told = Findings(ok=all(one.verdict != "wrong" for one in found), findings=found)
    if json:
        print_json(told)
    else:
        _show(told)
    raise SystemExit(0 if told.ok else 1)


def _show(told: Findings) -> None:
    table = new_table("", "what", "detail")
    for one in told.findings:
        table.add_row(MARKS[one.verdict], one.what, escape(one.detail))
    output().print(table)
