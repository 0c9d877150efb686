"""A unit as its client knows it, and the rules of its function."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import NamedTuple

from steelyard.mesh.protocol.lifecycle import State
from steelyard.mesh.protocol.messages import Result


class Rules(NamedTuple):
    """What `@mesh.unit` says about a function."""

    retries: int = 2  # after crashes, hangs and excesses: so a unit has retries + 1 tries
    hedge: bool = True  # it may run twice at the same time
    deadline: float | None = None  # seconds that one run may take
    memory: int | None = None  # bytes that one run may add


class Task(NamedTuple):
    """What is to be done."""

    number: int
    function: str
    arguments: bytes
    rules: Rules
    until: float | None = None  # by the client's clock; after that nobody wants it any more


class Copy(NamedTuple):
    """One node's copy of a unit."""

    serial: int  # of the pull that it was granted to
    since: float


@dataclass(slots=True)
class Entry:
    """One unit that is not done yet."""

    task: Task
    state: State = State.TODO
    copies: dict[str, Copy] = field(default_factory=dict)  # by node
    blamed: set[tuple[str, int]] = field(default_factory=set)  # node and run of each hurt
    losses: int = 0  # nodes that were lost with it
    refusals: dict[str, Result] = field(default_factory=dict)  # by node: it does not know it
    harmed: set[str] = field(default_factory=set)  # nodes whose children it hurt

    def avoids(self, node: str) -> bool:
        """Whether this node is not to have it."""
        return node in self.refusals or node in self.harmed

    @property
    def avoided(self) -> set[str]:
        """Nodes that are not to have it."""
        return self.harmed | self.refusals.keys()

    @property
    def hurts(self) -> int:
        """Children that crashed, hung or exceeded their memory in it."""
        return len(self.blamed)

    @property
    def tries_left(self) -> int:
        """How many more copies may be made; those that run may hurt their children yet."""
        return self.task.rules.retries + 1 - self.hurts - len(self.copies)
