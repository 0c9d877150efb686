"""What a client knows of the nodes that are there."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass, field

from steelyard.mesh.protocol.messages import Offer
from steelyard.mesh.protocol.times import Times


@dataclass(slots=True)
class Node:
    """A node, as a client sees it."""

    name: str
    offer: Offer
    latest: int = 0  # serial of its last pull
    called: bool = False  # whether it was called since its last pull
    held: dict[int, int] = field(default_factory=dict)  # number of a unit → serial of its pull
    times: defaultdict[str, Times] = field(default_factory=lambda: defaultdict(Times))

    @property
    def fill(self) -> float:
        """The number of units that the node has for each child."""
        return len(self.held) / max(1, self.offer.procs)

    def pace(self, function: str) -> float:
        """Median seconds of a unit of this function at this node; infinite before the first one."""
        return self.times[function].median

    def serves(self, function: str) -> bool:
        """Whether the node serves this function."""
        return function in self.offer.functions


class Nodes:
    """The nodes that are there, by name."""

    def __init__(self) -> None:
        self.by_name: dict[str, Node] = {}
        self.workers = 0  # the children of all nodes together

    def enter(self, name: str, offer: Offer) -> Node:
        """Add a node. If it is known already, only its offer changes."""
        known = self.leave(name)
        node = self.by_name[name] = Node(name, offer)
        self.workers += offer.procs
        if known is not None:
            node.latest, node.held, node.times = known.latest, known.held, known.times
        return node

    def leave(self, name: str) -> Node | None:
        """Remove a node and return it, or None if it was not there."""
        node = self.by_name.pop(name, None)
        if node is not None:
            self.workers -= node.offer.procs
        return node

    def serving(self, function: str) -> list[Node]:
        """The nodes that serve this function."""
        return [node for node in list(self.by_name.values()) if node.serves(function)]

    def can_serve(self, function: str) -> bool:
        """Whether any node serves this function."""
        return any(node.serves(function) for node in self.by_name.values())

    def functions(self) -> list[str]:
        """The functions that any node serves."""
        return sorted({one for node in self.by_name.values() for one in node.offer.functions})
