"""Events that a crew handles, and commands that it returns."""

from __future__ import annotations

from typing import NamedTuple

from steelyard.mesh.execution.outcome import Kind
from steelyard.mesh.protocol.messages import Grant, Order, Pull


class ClientAppeared(NamedTuple):
    """A client appeared, or came back."""

    client: str
    weight: float = 1.0


class ClientGone(NamedTuple):
    """A client closed or died, or cannot be reached."""

    client: str


class Granted(NamedTuple):
    """A pull was answered."""

    client: str
    serial: int
    grant: Grant


class PullFailed(NamedTuple):
    """A pull will not be answered."""

    client: str
    serial: int


class Called(NamedTuple):
    """A client that has units which were lost asks for a pull at once, for so many units."""

    client: str
    units: int


class StopAsked(NamedTuple):
    """A client does not want these units any more."""

    client: str
    numbers: tuple[int, ...]


class Ended(NamedTuple):
    """A child is done with a unit."""

    ticket: int
    kind: Kind
    value: bytes = b""
    output: bytes = b""
    seconds: float = 0.0


class Recalled(NamedTuple):
    """The answer to Recall: the units that no child had begun. They get no Ended event."""

    tickets: tuple[int, ...]


class LeaveAsked(NamedTuple):
    """The node is to end: it takes no more units, and finishes those that run."""


class Tick(NamedTuple):
    """The time that `wakeup` named has come."""


Event = (
    ClientAppeared
    | ClientGone
    | Granted
    | PullFailed
    | Called
    | StopAsked
    | Ended
    | Recalled
    | LeaveAsked
    | Tick
)


class Ask(NamedTuple):
    """Send a pull to a client."""

    client: str
    pull: Pull


class Start(NamedTuple):
    """Run a unit."""

    ticket: int
    order: Order


class Stop(NamedTuple):
    """Stop a unit, whether it runs or waits."""

    ticket: int


class Recall(NamedTuple):
    """Take back the units that no child has begun, and answer with Recalled."""


class Left(NamedTuple):
    """Nothing runs any more, and every result has arrived: the node may end."""


Command = Ask | Start | Stop | Recall | Left
