"""What can happen to a desk, and what it wants done."""

from __future__ import annotations

from typing import NamedTuple

from steelyard.mesh.protocol.lifecycle import State
from steelyard.mesh.protocol.messages import Grant, Offer, Pull, Result
from steelyard.mesh.protocol.task import Task


class Submitted(NamedTuple):
    """The application has work."""

    tasks: tuple[Task, ...]


class Dropped(NamedTuple):
    """The application no longer wants these."""

    numbers: tuple[int, ...]


class NodeAppeared(NamedTuple):
    """A node is there, or is there again, or offers something else."""

    node: str
    offer: Offer


class NodeGone(NamedTuple):
    """A node closed or died, or cannot be reached."""

    node: str


class Obstructed(NamedTuple):
    """Somebody is there with whom we cannot work; without a name, whoever is where we join."""

    node: str
    why: str


class Pulled(NamedTuple):
    """A node's pull has come in; `query` is what the answer is given to."""

    node: str
    pull: Pull
    query: int


class Tick(NamedTuple):
    """It is as late as `wakeup` said."""


Event = Submitted | Dropped | NodeAppeared | NodeGone | Obstructed | Pulled | Tick


class Reply(NamedTuple):
    """Answer a pull."""

    query: int
    grant: Grant


class Call(NamedTuple):
    """Tell a node to pull at once, for so many units."""

    node: str
    units: int


class Stop(NamedTuple):
    """Tell a node that nobody wants these any more."""

    node: str
    numbers: tuple[int, ...]


class Deliver(NamedTuple):
    """Tell the application how a unit ended: once."""

    number: int
    state: State
    result: Result | None = None  # the last one there was
    node: str = ""
    hurts: int = 0
    reason: str = ""


Command = Reply | Call | Stop | Deliver
