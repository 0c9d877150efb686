"""The stock of a node: the units that are here or about to come, and how many more it wants."""

from __future__ import annotations

from collections.abc import Mapping

from steelyard.mesh.protocol.customer import MOST, Customer
from steelyard.mesh.protocol.standing import Standing
from steelyard.mesh.protocol.ticket import Ticket

SLOW = 0.05  # seconds without an answer, after which others are asked as well


class Stock:
    """Looks at a crew's clients and at what its children have; changes nothing."""

    def __init__(
        self, procs: int, customers: Mapping[str, Customer], tickets: Mapping[int, Ticket]
    ) -> None:
        self._procs, self._customers, self._tickets = procs, customers, tickets
        self._now = 0.0
        self._count: int | None = None  # of all units, if that is known

    def changed(self, now: float) -> None:
        """What was counted before does not hold any more."""
        self._now, self._count = now, None

    @property
    def size(self) -> int:
        """All units; counted once while nothing changes."""
        if self._count is None:
            here = (len(one.backlog) + self.expected(one) for one in self._customers.values())
            self._count = len(self._tickets) + sum(here)
        return self._count

    @property
    def spare(self) -> int:
        """Those for which there is no child; below zero are children without a unit."""
        return self.size - self._procs

    @property
    def idle(self) -> int:
        """Children without a unit."""
        return max(0, -self.spare)

    def expected(self, customer: Customer) -> int:
        """Units that are about to come."""
        last = customer.last_pull
        if customer.standing is not Standing.ASKED or last is None:
            return 0
        return last.pull.want if self._now < last.at + SLOW else 0

    def room(self, customer: Customer) -> int:
        """How many more units we want of it."""
        return self._wanted(customer) - self.spare

    def is_low(self, customer: Customer) -> bool:
        """Whether half of the spare units are gone that we want, or did get last time."""
        return 2 * self.spare < min(self._wanted(customer), customer.level)

    def _wanted(self, customer: Customer) -> int:
        return 0 if customer.standing is Standing.LAST else min(MOST, customer.spare * self._procs)

    def has_enough(self, customer: Customer) -> bool:
        """Whether it has its share of the children, and nobody knows for how long: of the first
        units of a client none has ended, nothing is charged, and it would be next for ever."""
        if customer.mean is not None:
            return False
        weights = sum(one.weight for one in self._customers.values() if one.busy)
        return len(customer.running) * weights >= self._procs * customer.weight

    def idle_for(self, customer: Customer) -> int:
        """Children that would start its units at once: who is next has the next one that is free.

        Without this, a client with many units fills the node, and others never find it idle.
        """
        busy = (one for one in self._customers.values() if one.busy)
        others = [one.served for one in busy if one is not customer]
        waits = customer.backlog or self.expected(customer)
        is_next = others and not waits and customer.served <= min(others)
        return max(self.idle, 1 if is_next and not self.has_enough(customer) else 0)
