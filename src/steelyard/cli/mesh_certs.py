"""`steelyard mesh certs`: an authority for a mesh, and certificates for its nodes."""

from __future__ import annotations

import json as jsonlib
from pathlib import Path
from typing import Annotated

import typer

from steelyard.cli.common import JsonOption, new_table, output
from steelyard.cli.mesh_common import load


def mesh_certs(
    folder: Annotated[
        Path, typer.Argument(metavar="DIR", help="Folder of the authority, made if missing.")
    ],
    names: Annotated[
        list[str], typer.Argument(metavar="NAME...", help="Names of nodes, one each.")
    ],
    days: Annotated[int, typer.Option(min=1, help="Days of validity, at most 3650.")] = 365,
    renew: Annotated[bool, typer.Option("--renew", help="Replace existing certificates.")] = False,
    json: JsonOption = False,
) -> None:
    """Make certificates, without which nodes on different machines do not talk to each other.

    Copy each node's folder to its machine, and start the node there with --certs FOLDER. The
    authority's key, DIR/ca.key, makes members of the mesh: no node needs it.
    """
    members = load("certs").make_members(folder, names, days, renew=renew)
    if json:
        told = [
            {"name": one.name, "folder": str(one.folder), "expires": one.expires.isoformat()}
            for one in members
        ]
        typer.echo(jsonlib.dumps(told, indent=2))
        return
    table = new_table("node", "folder", "expires")
    for one in members:
        table.add_row(one.name, str(one.folder), f"{one.expires:%Y-%m-%d}")
    output().print(table)
