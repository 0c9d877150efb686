"""Functions that have units, but no node that serves them, while other nodes are there.

A node that serves them may be about to come, so they get some patience. While there is no node at
all nothing can be said about any function.
"""

from __future__ import annotations

from collections.abc import Iterable
from math import inf

from steelyard.mesh.protocol.nodes import Nodes

PATIENCE = 10.0  # seconds


class Unserved:
    """Since when nobody serves them."""

    def __init__(self) -> None:
        self._since: dict[str, float] = {}

    def overdue(self, waiting: Iterable[str], nodes: Nodes, now: float) -> list[str]:
        """Of the functions that have units waiting, those that nobody will serve."""
        if not nodes.by_name:
            self._since.clear()
            return []
        lacking = [function for function in waiting if not nodes.serving(function)]
        self._since = {function: self._since.get(function, now) for function in lacking}
        return [one for one, since in self._since.items() if since + PATIENCE <= now]

    @property
    def next(self) -> float:
        """When one is overdue, if nothing happens."""
        return min(self._since.values(), default=inf) + PATIENCE
