"""`steelyard mesh status`: the nodes and clients of a mesh, and their work."""

from __future__ import annotations

import json as jsonlib
from collections.abc import Mapping
from dataclasses import asdict
from typing import TYPE_CHECKING, Annotated, Any

import typer
from rich.console import Console
from rich.markup import escape

from steelyard.cli.common import JsonOption, new_table, output
from steelyard.cli.mesh_common import (
    CertsOption,
    InsecureOption,
    JoinOption,
    LeaseOption,
    MemberOption,
    MeshOption,
    MulticastOption,
    Where,
    load,
)
from steelyard.logs import set_up_logging

if TYPE_CHECKING:
    from steelyard.mesh.status import MeshStatus


def mesh_status(
    join: JoinOption = None,
    patience: Annotated[
        float, typer.Option(min=0.1, help="Seconds to wait for all answers.")
    ] = 5.0,
    json: JsonOption = False,
    mesh: MeshOption = "default",
    certs: CertsOption = None,
    insecure: InsecureOption = False,
    multicast: MulticastOption = False,
    member: MemberOption = None,
    lease: LeaseOption = 1.5,
) -> None:
    """Show the nodes and clients of a mesh, with their work; any node serves as the entry."""
    where = Where(join, None, mesh, certs, insecure, multicast, member, lease)
    where.check_way()
    place = where.place()
    set_up_logging("mesh", "warning")
    link = load("join").open_link(place)
    try:
        told: MeshStatus = load("status").ask_everybody(link, patience)
        if json:
            typer.echo(jsonlib.dumps(asdict(told), indent=2))
        else:
            _show(output(), told)
    finally:
        link.close()  # last, as it takes seconds if a node does not answer
    if not told.nodes and not told.clients:
        raise typer.Exit(1)


def _show(console: Console, told: MeshStatus) -> None:
    if not told.nodes and not told.clients:
        console.print("no node or client answers: are the endpoint and the name of the mesh right?")
    if told.nodes:
        columns = ("node", ">children", ">running", ">waiting", ">done", ">units/s", ">links")
        table = new_table(*columns, ">clients", "serves")
        for one in told.nodes:
            table.add_row(*_node(one))
        console.print(table)
    if told.clients:
        console.print()
        columns = ("client", ">weight", ">todo", ">inflight", ">done", ">duplicates", ">links")
        table = new_table(*columns)
        for one in told.clients:
            table.add_row(*(_cell(one, name.lstrip(">")) for name in columns))
        console.print(table)
    for identity in told.silent:
        console.print(f"[yellow]{identity} did not answer[/]")


def _node(one: Mapping[str, Any]) -> list[str]:
    rate = one["done"] / one["seconds"] if one["seconds"] else 0.0
    cells = [one["name"], one["procs"], one["running"], one["waiting"], one["done"], f"{rate:.1f}"]
    serves = " ".join(one["functions"]) + (" (leaving)" if one["leaving"] else "")
    return [escape(str(cell)) for cell in (*cells, one["links"], one["clients"], serves)]


def _cell(one: Mapping[str, Any], column: str) -> str:
    return escape(str(one["name" if column == "client" else column]))
