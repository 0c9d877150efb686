"""Parts shared by the commands of `steelyard mesh`.

The mesh is imported when one of them runs: it needs libraries that the gateway does without.
"""

from __future__ import annotations

import os
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from steelyard.errors import Fault, SteelyardError, UsageError

if TYPE_CHECKING:
    from steelyard.mesh.join import Place

JoinOption = Annotated[
    list[str] | None,
    typer.Option("--join", metavar="ENDPOINT", help="Any node of the mesh: tcp/HOST:PORT."),
]
ListenOption = Annotated[
    list[str] | None,
    typer.Option("--listen", metavar="ENDPOINT", help="Where others may join: tcp/HOST:PORT."),
]
MeshOption = Annotated[
    str,
    typer.Option(
        "--mesh", metavar="NAME", help="Name of the mesh; meshes of different names do not mix."
    ),
]
CertsOption = Annotated[
    Path | None,
    typer.Option("--certs", metavar="DIR", help="Folder with ca.pem, node.pem and node.key."),
]
InsecureOption = Annotated[
    bool, typer.Option("--insecure", help="Allow other machines without certificates.")
]
MulticastOption = Annotated[
    bool, typer.Option("--multicast", help="Find other nodes on this network by multicast.")
]
MemberOption = Annotated[
    list[str] | None,
    typer.Option("--member", metavar="NAME", help="With --certs: only these names may take part."),
]
LeaseOption = Annotated[
    float,
    typer.Option(
        "--lease",
        min=0.3,
        help="Seconds of silence after which a node counts as gone; use more with many nodes.",
    ),
]


class MissingError(SteelyardError):
    """A library is not installed."""

    fault = Fault.MACHINE


def load(name: str) -> Any:
    """Import a module of the mesh."""
    try:
        return import_module(f"steelyard.mesh.{name}")
    except ModuleNotFoundError as error:
        if error.name is None or error.name.startswith("steelyard"):
            raise
        raise MissingError(
            f"the mesh needs {error.name}, which is not installed",
            hint="pip install 'steelyard[mesh]'",
        ) from error


def check_names(*names: str) -> None:
    """Raise UsageError for the name of a file: the module in it was meant."""
    for name in names:
        path, colon, function = name.partition(":")
        if path.endswith(".py"):
            raise UsageError(
                f"“{path}” is a file, not a module", hint=_advice(path, colon + function)
            )


def _advice(path: str, function: str) -> str:
    file = Path(path).with_suffix("")
    if file.is_absolute() or ".." in file.parts:
        return f"start in {file.parent}, and write {file.name}{function}"
    return f"write {'.'.join(file.parts)}{function}"


@dataclass(frozen=True, slots=True)
class Where:
    """The options that select a mesh, and the way to reach it."""

    join: list[str] | None
    listen: list[str] | None
    mesh: str
    certs: Path | None
    insecure: bool
    multicast: bool
    members: list[str] | None = None
    lease: float = 1.5

    def check_way(self) -> None:
        """Raise UsageError if no option leads to other nodes.

        A worker may wait for other nodes to come, so only clients are checked.
        """
        if not (self.join or self.listen or self.multicast):
            raise UsageError(
                "no endpoint of the mesh is given",
                hint="name any node of the mesh: --join tcp/HOST:PORT",
            )

    def place(self) -> Place:
        """The same options in the mesh's own form."""
        made: Place = load("join").Place(
            join=self.join or (),
            listen=self.listen or (),
            mesh=self.mesh,
            security=self._security(),
            lease=self.lease,
            insecure=self.insecure,
            multicast=self.multicast,
        )
        return made

    def _security(self) -> Any:
        if self.certs is None and self.members:
            raise UsageError(
                "--member needs --certs", hint="it restricts which certificates may take part"
            )
        if self.certs is None:
            return None
        if not os.path.isdir(self.certs):
            raise UsageError(
                f"--certs {self.certs} is not a folder", hint="`steelyard mesh certs` makes one"
            )
        return load("transport.security").Security.from_folder(self.certs, self.members or ())
