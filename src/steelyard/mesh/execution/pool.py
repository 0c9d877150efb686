"""The children of one node: units in, outcomes out."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Protocol

from steelyard.mesh.execution.outcome import Outcome
from steelyard.mesh.execution.unit import Unit

Deliver = Callable[[Outcome], None]


class Executor(Protocol):
    """What a node knows of a pool. All of it may be called from any thread.

    A pool is made with the number of its children and a `Deliver`, which is called once for each
    ticket, from a thread of the pool, one call at a time. It must not block, and may call
    `start` and `cancel`.
    """

    def start(self, ticket: int, unit: Unit) -> None:
        """Run a unit as soon as a child is free; a ticket is used once in a pool's life."""

    def start_all(self, batch: Iterable[tuple[int, Unit]]) -> None:
        """The same for many; cheaper than one by one."""

    def cancel(self, ticket: int) -> None:
        """End a unit, running or not; its outcome comes, CANCELLED unless it had ended before."""

    @property
    def free(self) -> int:
        """Children that would have nothing to do if all units so far were spread over them."""

    def close(self) -> None:
        """Kill the children; units that are not done have no outcome, nor is any told after."""
