"""What can happen to a crew, and what it wants done."""

from __future__ import annotations

from typing import NamedTuple

from steelyard.mesh.execution.outcome import Kind
from steelyard.mesh.protocol.messages import Grant, Order, Pull


class ClientAppeared(NamedTuple):
    """A client is there, or is there again."""

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
    """A client wants to be asked at once, for so many units: it has some that were lost."""

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
    """What the children had not begun; of these units no end is told."""

    tickets: tuple[int, ...]


class LeaveAsked(NamedTuple):
    """The node is to end: no more units; those that run finish."""


class Tick(NamedTuple):
    """It is as late as `wakeup` said."""


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
    """End a unit, wherever it is."""

    ticket: int


class Recall(NamedTuple):
    """Take back what no child has begun, and tell what that was."""


class Left(NamedTuple):
    """Nothing runs any more, and every result has arrived: the node may end."""


Command = Ask | Start | Stop | Recall | Left
