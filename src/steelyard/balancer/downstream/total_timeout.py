"""TotalTimeout: ends exchanges that take longer than `gateway.total_timeout` as a whole.

All exchanges have the same time limit, so they come due in the order in which they began. Hence a
dict, which keeps its insertion order, serves as the timer queue. A `TotalTimeout` exists only if
the limit is set.
"""

from __future__ import annotations

from math import inf

from steelyard.balancer.downstream.client import Client
from steelyard.balancer.io.loop import Loop, Waker


class TotalTimeout:
    """The deadlines of the clients' present exchanges."""

    __slots__ = ("_due", "_limit", "_loop", "_waker")

    def __init__(self, loop: Loop, limit: float) -> None:
        self._loop = loop
        self._limit = limit
        self._due: dict[Client, float] = {}
        self._waker = Waker(loop, self)

    def began(self, client: Client) -> None:
        """Start the time limit of a client's new exchange, which comes due last."""
        self._due.pop(client, None)
        self._due[client] = due = self._loop.now + self._limit
        if self._waker.deadline == inf:
            self._waker.deadline = due

    def left(self, client: Client) -> None:
        """Forget the deadline of a client that left."""
        self._due.pop(client, None)

    def woken(self) -> None:
        """Do nothing: only the deadline of the waker is used."""

    def expired(self) -> None:
        """End the exchanges that are due; skip the clients whose exchange ended in time."""
        while self._due:
            client, due = next(iter(self._due.items()))
            if due > self._loop.now:
                self._waker.deadline = due
                return
            del self._due[client]
            if client.exchange is not None:
                client.exchange.on_overdue()
