"""Functions that have units waiting while no node serves them.

A node that serves the function may be about to come, so its units wait for PATIENCE. While no node
is there at all, nothing can be said about any function, unless there is a node that we cannot work
with.
"""

from __future__ import annotations

from collections.abc import Iterable
from math import inf

from steelyard.mesh.protocol.nodes import Nodes

PATIENCE = 10.0  # seconds


class Unserved:
    """Remembers since when a function has had no node."""

    def __init__(self) -> None:
        # Why we cannot work with a node, by name; "" for joining.
        self.obstacles: dict[str, str] = {}
        self._since: dict[str, float] = {}

    def overcome(self, name: str) -> None:
        """Forget the obstacles: this node works with us, so we have joined."""
        self.obstacles.pop(name, None)
        self.obstacles.pop("", None)

    def overdue(self, waiting: Iterable[str], nodes: Nodes, now: float) -> list[str]:
        """The functions with waiting units that no node has served for PATIENCE."""
        if not nodes.by_name and not self.obstacles:
            self._since.clear()
            return []
        lacking = [function for function in waiting if not nodes.can_serve(function)]
        self._since = {function: self._since.get(function, now) for function in lacking}
        return [one for one, since in self._since.items() if since + PATIENCE <= now]

    def reason(self, function: str, nodes: Nodes) -> str:
        """Why no node will serve this function, as a sentence for people."""
        served = ", ".join(nodes.functions())
        there = f"; the nodes that are there serve {served}" if served else ""
        return "; ".join((f"no node serves {function}{there}", *self.obstacles.values()))

    @property
    def next(self) -> float:
        """When the next function will be overdue, if nothing happens."""
        return min(self._since.values(), default=inf) + PATIENCE
