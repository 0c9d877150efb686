"""A unit as its client knows it, and the rules of its function."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import NamedTuple

from steelyard.mesh.protocol.lifecycle import State
from steelyard.mesh.protocol.messages import Result


class Rules(NamedTuple):
    """The rules that `@mesh.unit` sets for a function."""

    retries: int = 2  # after crashes, hangs and memory excesses; a unit has retries + 1 tries
    hedge: bool = True  # it may run twice at the same time
    deadline: float | None = None  # seconds that one run may take
    memory: int | None = None  # bytes that one run may add to its child


class Task(NamedTuple):
    """A unit as it was submitted."""

    number: int
    function: str
    arguments: bytes
    rules: Rules
    until: float | None = None  # by the client's clock; the unit expires then


class Copy(NamedTuple):
    """One node's copy of a unit."""

    serial: int  # serial of the pull that it was granted to
    since: float


@dataclass(slots=True)
class Entry:
    """A unit that has not ended yet."""

    task: Task
    state: State = State.TODO
    copies: dict[str, Copy] = field(default_factory=dict)  # by node
    blamed: set[tuple[str, int]] = field(default_factory=set)  # node and run number of each hurt
    losses: int = 0  # nodes that went while they had the unit
    # By node, its answer that it does not know the function.
    refusals: dict[str, Result] = field(default_factory=dict)
    harmed: set[str] = field(default_factory=set)  # nodes whose children it hurt

    def avoids(self, node: str) -> bool:
        """Whether this node must not get the unit."""
        return node in self.refusals or node in self.harmed

    @property
    def avoided(self) -> set[str]:
        """The nodes that must not get the unit."""
        return self.harmed | self.refusals.keys()

    @property
    def hurts(self) -> int:
        """How many children crashed, hung or exceeded their memory while they ran the unit."""
        return len(self.blamed)

    @property
    def tries_left(self) -> int:
        """How many more copies may be made. Copies that run now may still hurt their children."""
        return self.task.rules.retries + 1 - self.hurts - len(self.copies)
