"""What the commands of the mesh share. The mesh is imported when one of them runs: it needs
libraries that the gateway does without."""

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
    typer.Option("--join", metavar="ENDPOINT", help="A node that is there: tcp/HOST:PORT. Any."),
]
ListenOption = Annotated[
    list[str] | None,
    typer.Option("--listen", metavar="ENDPOINT", help="Where others join: tcp/HOST:PORT."),
]
MeshOption = Annotated[
    str, typer.Option("--mesh", metavar="NAME", help="Meshes of different names do not mix.")
]
CertsOption = Annotated[
    Path | None,
    typer.Option("--certs", metavar="DIR", help="Folder with ca.pem, node.pem and node.key."),
]
InsecureOption = Annotated[
    bool, typer.Option("--insecure", help="Without certificates, off loopback, all the same.")
]
MulticastOption = Annotated[
    bool, typer.Option("--multicast", help="Find the others on this network by multicast.")
]
MemberOption = Annotated[
    list[str] | None,
    typer.Option("--member", metavar="NAME", help="With --certs: only these may take part."),
]
LeaseOption = Annotated[
    float,
    typer.Option(
        "--lease",
        min=0.3,
        help="Seconds of silence after which another node is gone; more where nodes are many.",
    ),
]


class MissingError(SteelyardError):
    """A library is not installed."""

    fault = Fault.MACHINE


def load(name: str) -> Any:
    """A module of the mesh."""
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
    """Who writes the name of a file means the module in it."""
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
    """The options that say which mesh, and how to get there."""

    join: list[str] | None
    listen: list[str] | None
    mesh: str
    certs: Path | None
    insecure: bool
    multicast: bool
    members: list[str] | None = None
    lease: float = 1.5

    def check_way(self) -> None:
        """A node may wait for others; who wants something of them needs a way to them."""
        if not (self.join or self.listen or self.multicast):
            raise UsageError(
                "it is not said where the mesh is",
                hint="name a node that is there: --join tcp/HOST:PORT",
            )

    def place(self) -> Place:
        """The same for the mesh."""
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
            raise UsageError("--member names certificates", hint="give them with --certs")
        if self.certs is None:
            return None
        if not os.path.isdir(self.certs):
            raise UsageError(
                f"--certs {self.certs} is not a folder", hint="`steelyard mesh certs` makes one"
            )
        return load("transport.security").Security.from_folder(self.certs, self.members or ())
