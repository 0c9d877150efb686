"""Pulls that wait for an answer, in the order they came; pulls of idle nodes are kept apart."""

from __future__ import annotations

from typing import NamedTuple

from steelyard.mesh.protocol.messages import Pull


class Parked(NamedTuple):
    """A pull that has no answer yet."""

    pull: Pull
    query: int


class Parking:
    """Keeps at most one pull of each node."""

    def __init__(self) -> None:
        self.idle: dict[str, Parked] = {}  # by node; these nodes would start a unit at once
        self.busy: dict[str, Parked] = {}  # by node; these want to hear that there is work

    def park(self, node: str, pull: Pull, query: int) -> None:
        """Keep this pull until it is answered."""
        (self.idle if pull.idle else self.busy)[node] = Parked(pull, query)

    def leave(self, node: str) -> Parked | None:
        """Remove and return the parked pull of this node, if there is one."""
        return self.idle.pop(node, None) or self.busy.pop(node, None)
