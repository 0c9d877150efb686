"""Which units are not for all who serve them: a node did not know one, or it hurt a child there.

What hurts is tried elsewhere first: where everything hurts, that must not be the end of every unit.
But not for ever, if all others are busy for long, and not when there is nobody else.
"""

from __future__ import annotations

from itertools import takewhile
from math import inf

from steelyard.mesh.protocol.messages import Result
from steelyard.mesh.protocol.nodes import Nodes
from steelyard.mesh.protocol.task import Entry
from steelyard.mesh.protocol.todo import Todo
from steelyard.mesh.protocol.unserved import PATIENCE


class Avoidance:
    """Remembers them, until they end."""

    def __init__(self, nodes: Nodes, todo: Todo) -> None:
        self._nodes, self._todo = nodes, todo
        self._units: dict[int, Entry] = {}
        # In the order of their times:
        self._forlorn: dict[int, float] = {}  # those that all did refuse who are there, and until
        self._grudges: dict[int, float] = {}  # those that did harm somewhere, and until

    def refused(self, entry: Entry, result: Result, name: str) -> None:
        """A node does not know its function."""
        with self._todo.reconsidered(entry):
            entry.refusals[name] = result
        self._note(entry)

    def hurt(self, entry: Entry, name: str, now: float) -> None:
        """It hurt a child of a node."""
        with self._todo.reconsidered(entry):
            entry.harmed.add(name)
        self._grudges.pop(entry.task.number, None)
        self._grudges[entry.task.number] = now + PATIENCE
        self._note(entry)

    def _note(self, entry: Entry) -> None:
        self._units[entry.task.number] = entry
        self._forgive(entry)

    def node_left(self, now: float) -> None:
        """A unit may have nowhere to go now; but who is gone may come back."""
        for number, entry in self._units.items():
            self._forgive(entry)
            if self.is_forlorn(entry):
                self._forlorn.setdefault(number, now + PATIENCE)

    def node_came(self) -> None:
        """It may know what all others did refuse."""
        for number in [one for one in self._forlorn if not self.is_forlorn(self._units[one])]:
            del self._forlorn[number]

    def ended(self, number: int) -> None:
        """There is no such unit any more."""
        for units in (self._units, self._forlorn, self._grudges):
            units.pop(number, None)

    def _forgive(self, entry: Entry) -> None:
        """When there is nobody else, it may go where it did harm."""
        if all(entry.avoids(node.name) for node in self._nodes.serving(entry.task.function)):
            self._pardon(entry)

    def _pardon(self, entry: Entry) -> None:
        with self._todo.reconsidered(entry):
            entry.harmed.clear()

    def is_forlorn(self, entry: Entry) -> bool:
        """Whether every node that is there refused it, of those that should know its function."""
        serving = {node.name for node in self._nodes.serving(entry.task.function)}
        return bool(self._nodes.by_name and entry.refusals) and serving <= entry.refusals.keys()

    def lose_patience(self, now: float) -> list[Entry]:
        """Forget the harm that was done long ago; return what nobody has known for long."""
        for number in _due(self._grudges, now):
            self._pardon(self._units[number])
        return [self._units[number] for number in _due(self._forlorn, now)]

    @property
    def next(self) -> float:
        """When that is due."""
        first = (next(iter(one.values()), inf) for one in (self._forlorn, self._grudges))
        return min(first)


def _due(times: dict[int, float], now: float) -> list[int]:
    """Those whose time has come are taken out."""
    due = [number for number, _ in takewhile(lambda one: one[1] <= now, times.items())]
    for number in due:
        del times[number]
    return due
