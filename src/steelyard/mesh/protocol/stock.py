"""The stock of a node: the units that it has or expects, and how many more it wants."""

from __future__ import annotations

from collections.abc import Mapping

from steelyard.mesh.protocol.customer import MOST, Customer
from steelyard.mesh.protocol.standing import Standing
from steelyard.mesh.protocol.ticket import Ticket

SLOW = 0.05  # seconds without an answer, after which other clients are asked as well


class Stock:
    """Counts the units of a crew's clients and children; changes nothing."""

    def __init__(
        self, procs: int, customers: Mapping[str, Customer], tickets: Mapping[int, Ticket]
    ) -> None:
        self._procs, self._customers, self._tickets = procs, customers, tickets
        self._now = 0.0
        self._count: int | None = None  # of all units; None when it must be counted again

    def changed(self, now: float) -> None:
        """Forget the count: units or the time have changed."""
        self._now, self._count = now, None

    @property
    def size(self) -> int:
        """How many units are here or expected."""
        if self._count is None:
            here = (len(one.backlog) + self.expected(one) for one in self._customers.values())
            self._count = len(self._tickets) + sum(here)
        return self._count

    @property
    def spare(self) -> int:
        """Units without a child; below zero, the number of children without a unit."""
        return self.size - self._procs

    @property
    def idle(self) -> int:
        """How many children have no unit."""
        return max(0, -self.spare)

    def expected(self, customer: Customer) -> int:
        """How many units the open pull of this client will bring, if it is not overdue."""
        last = customer.last_pull
        if customer.standing is not Standing.ASKED or last is None:
            return 0
        return last.pull.want if self._now < last.at + SLOW else 0

    def room(self, customer: Customer) -> int:
        """How many more units we want from this client."""
        return self._wanted(customer) - self.spare

    def is_low(self, customer: Customer) -> bool:
        """Whether fewer than half of the spare units are left that we want, or that the last grant
        gave.
        """
        return 2 * self.spare < min(self._wanted(customer), customer.level)

    def _wanted(self, customer: Customer) -> int:
        return 0 if customer.standing is Standing.LAST else min(MOST, customer.spare * self._procs)

    def has_enough(self, customer: Customer) -> bool:
        """Whether the client has its share of the children while the cost of its units is unknown.

        Nothing is charged until the first unit of a client has ended, so without this check the
        client would be next for ever.
        """
        if customer.mean is not None:
            return False
        weights = sum(one.weight for one in self._customers.values() if one.busy)
        return len(customer.running) * weights >= self._procs * customer.weight

    def idle_for(self, customer: Customer) -> int:
        """How many children would start units of this client at once: the client that is next gets
        the next free child.

        Without this, a client with many units fills the node, and others never find it idle.
        """
        busy = (one for one in self._customers.values() if one.busy)
        others = [one.served for one in busy if one is not customer]
        waits = customer.backlog or self.expected(customer)
        is_next = others and not waits and customer.served <= min(others)
        return max(self.idle, 1 if is_next and not self.has_enough(customer) else 0)
