"""What a node's children were given."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(slots=True)
class Ticket:
    """One unit that a child has, or will have next."""

    client: str
    number: int
    estimate: float  # seconds that were charged when it began
    wanted: bool = True
