"""Units that some nodes must not get, although they serve the function: the node did not know the
function, or the unit hurt one of its children.

A unit that hurt a child is tried on other nodes first: on a node where every unit crashes, that
must not use up the tries of all of them. The node gets the unit again after PATIENCE, as the others
may be busy for long, and at once when no other node is left.
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
    """Remembers which units must not go to which nodes, until the units end."""

    def __init__(self, nodes: Nodes, todo: Todo) -> None:
        self._nodes, self._todo = nodes, todo
        self._units: dict[int, Entry] = {}
        # Both dicts are in the order of their times.
        # Units that every node present has refused, and when to give up.
        self._forlorn: dict[int, float] = {}
        self._grudges: dict[int, float] = {}  # units that hurt a child, and when that is forgotten

    def refused(self, entry: Entry, result: Result, name: str) -> None:
        """Note that a node does not know the function of this unit."""
        with self._todo.reconsidered(entry):
            entry.refusals[name] = result
        self._note(entry)

    def hurt(self, entry: Entry, name: str, now: float) -> None:
        """Note that this unit hurt a child of a node."""
        with self._todo.reconsidered(entry):
            entry.harmed.add(name)
        self._grudges.pop(entry.task.number, None)
        self._grudges[entry.task.number] = now + PATIENCE
        self._note(entry)

    def _note(self, entry: Entry) -> None:
        self._units[entry.task.number] = entry
        self._forgive(entry)

    def node_left(self, now: float) -> None:
        """Start the patience for units that no node is left for, as the node that went may come
        back.
        """
        for number, entry in self._units.items():
            self._forgive(entry)
            if self.is_forlorn(entry):
                self._forlorn.setdefault(number, now + PATIENCE)

    def node_came(self) -> None:
        """Stop the patience for units that the new node may know."""
        for number in [one for one in self._forlorn if not self.is_forlorn(self._units[one])]:
            del self._forlorn[number]

    def ended(self, number: int) -> None:
        """Forget a unit that has ended."""
        for units in (self._units, self._forlorn, self._grudges):
            units.pop(number, None)

    def _forgive(self, entry: Entry) -> None:
        """Let the unit go where it did harm if no other node can have it."""
        if all(entry.avoids(node.name) for node in self._nodes.serving(entry.task.function)):
            self._pardon(entry)

    def _pardon(self, entry: Entry) -> None:
        with self._todo.reconsidered(entry):
            entry.harmed.clear()

    def is_forlorn(self, entry: Entry) -> bool:
        """Whether every node that should know the unit's function has refused it."""
        serving = {node.name for node in self._nodes.serving(entry.task.function)}
        return bool(self._nodes.by_name and entry.refusals) and serving <= entry.refusals.keys()

    def lose_patience(self, now: float) -> list[Entry]:
        """Forget old harm; return the units that every node has refused for PATIENCE."""
        for number in _due(self._grudges, now):
            self._pardon(self._units[number])
        return [self._units[number] for number in _due(self._forlorn, now)]

    @property
    def next(self) -> float:
        """When `lose_patience` is due."""
        first = (next(iter(one.values()), inf) for one in (self._forlorn, self._grudges))
        return min(first)


def _due(times: dict[int, float], now: float) -> list[int]:
    """Take out and return the units whose time has come."""
    due = [number for number, _ in takewhile(lambda one: one[1] <= now, times.items())]
    for number in due:
        del times[number]
    return due
