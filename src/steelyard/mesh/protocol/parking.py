"""Pulls that wait for their answer, those of idle nodes apart; the longest waiting first."""

from __future__ import annotations

from typing import NamedTuple

from steelyard.mesh.protocol.messages import Pull


class Parked(NamedTuple):
    """A pull that has no answer yet."""

    pull: Pull
    query: int


class Parking:
    """At most one pull of each node."""

    def __init__(self) -> None:
        self.idle: dict[str, Parked] = {}  # by node; these would start a unit at once
        self.busy: dict[str, Parked] = {}  # these want to hear that there is work

    def park(self, node: str, pull: Pull, query: int) -> None:
        """Keep it."""
        (self.idle if pull.idle else self.busy)[node] = Parked(pull, query)

    def leave(self, node: str) -> Parked | None:
        """No longer keep what this node parked, if it did."""
        return self.idle.pop(node, None) or self.busy.pop(node, None)
