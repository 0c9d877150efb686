"""A unit that a node has given to its children."""

from __future__ import annotations

from dataclasses import dataclass

from steelyard.mesh.protocol.messages import Order


@dataclass(slots=True)
class Ticket:
    """One unit that a child runs, or will run."""

    client: str
    order: Order
    tag: float  # how much its client had been served before it
    charge: float  # what the client was charged for it: an estimate, divided by its weight
    wanted: bool = True
