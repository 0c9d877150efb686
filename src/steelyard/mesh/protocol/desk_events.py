"""Events that a desk handles, and commands that it returns."""

from __future__ import annotations

from typing import NamedTuple

from steelyard.mesh.protocol.lifecycle import State
from steelyard.mesh.protocol.messages import Grant, Offer, Pull, Result
from steelyard.mesh.protocol.task import Task


class Submitted(NamedTuple):
    """The application submitted units."""

    tasks: tuple[Task, ...]


class Dropped(NamedTuple):
    """The application no longer wants these units."""

    numbers: tuple[int, ...]


class NodeAppeared(NamedTuple):
    """A node appeared, came back, or changed its offer."""

    node: str
    offer: Offer


class NodeGone(NamedTuple):
    """A node closed or died, or cannot be reached."""

    node: str


class Obstructed(NamedTuple):
    """We cannot work with a node that is there. Without a name, it is one that we try to join."""

    node: str
    why: str


class Pulled(NamedTuple):
    """A node's pull has come in; the reply goes to `query`."""

    node: str
    pull: Pull
    query: int


class Tick(NamedTuple):
    """The time that `wakeup` named has come."""


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
    """Tell a node that these units are no longer wanted."""

    node: str
    numbers: tuple[int, ...]


class Deliver(NamedTuple):
    """Tell the application, once, how a unit ended."""

    number: int
    state: State
    result: Result | None = None  # the last result that came, if any
    node: str = ""
    hurts: int = 0
    reason: str = ""


Command = Reply | Call | Stop | Deliver
