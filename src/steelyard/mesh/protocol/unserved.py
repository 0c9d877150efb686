"""Functions that have units, but no node that serves them, while other nodes are there.

A node that serves them may be about to come, so they get some patience. While there is no node at
all nothing can be said about any function; unless somebody is there with whom we cannot work.
"""

from __future__ import annotations

from collections.abc import Iterable
from math import inf

from steelyard.mesh.protocol.nodes import Nodes

PATIENCE = 10.0  # seconds


class Unserved:
    """Since when nobody serves them."""

    def __init__(self) -> None:
        self.obstacles: dict[str, str] = {}  # why we cannot work with a node; without a name: join
        self._since: dict[str, float] = {}

    def overcome(self, name: str) -> None:
        """This node is one of ours, so we have joined."""
        self.obstacles.pop(name, None)
        self.obstacles.pop("", None)

    def overdue(self, waiting: Iterable[str], nodes: Nodes, now: float) -> list[str]:
        """Of the functions that have units waiting, those that nobody will serve."""
        if not nodes.by_name and not self.obstacles:
            self._since.clear()
            return []
        lacking = [function for function in waiting if not nodes.can_serve(function)]
        self._since = {function: self._since.get(function, now) for function in lacking}
        return [one for one, since in self._since.items() if since + PATIENCE <= now]

    def reason(self, function: str, nodes: Nodes) -> str:
        """Why nobody will serve it, for people."""
        served = ", ".join(nodes.functions())
        there = f"; those that are there serve {served}" if served else ""
        return "; ".join((f"no node serves {function}{there}", *self.obstacles.values()))

    @property
    def next(self) -> float:
        """When one is overdue, if nothing happens."""
        return min(self._since.values(), default=inf) + PATIENCE
