"""What a node's children were given."""

from __future__ import annotations

from dataclasses import dataclass

from steelyard.mesh.protocol.messages import Order


@dataclass(slots=True)
class Ticket:
    """One unit that a child has, or will have next."""

    client: str
    order: Order
    tag: float  # what its client had been served before
    charge: float  # what it was charged: by estimate and by weight
    wanted: bool = True
