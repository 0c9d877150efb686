"""Table: which workers get new requests, as one immutable object; and who makes it.

The directory lives in the control thread. It keeps a worker's counts and connections from queue to
queue and gives out a new table for each; the data thread then swaps one reference.
"""

from __future__ import annotations

import random
import socket
from collections.abc import Iterator, Mapping
from typing import TypeAlias

from steelyard.balancer.counters import Bell
from steelyard.balancer.worker import SocketAddress, Worker
from steelyard.core.lifecycle import SERVING
from steelyard.core.queue import Entry, Queue
from steelyard.select import WeightedRing

Place: TypeAlias = tuple[socket.AddressFamily, SocketAddress]  # where a worker listens, resolved
_Key = tuple[str, Place]


class Table:
    """What the data thread serves from. Nothing in it changes once it is offered."""

    __slots__ = ("epoch", "ring", "serving", "version")

    def __init__(
        self,
        epoch: str,
        version: int,
        serving: frozenset[Worker],
        ring: WeightedRing[Worker] | None,
    ) -> None:
        self.epoch = epoch
        self.version = version
        self.serving = serving
        self.ring = ring  # None: there is nobody to send a request to


EMPTY = Table("", 0, frozenset(), None)


class Directory:
    """Every worker this process knows or has unfinished business with."""

    def __init__(self, bell: Bell, rng: random.Random) -> None:
        self._bell = bell
        self._rng = rng
        self._workers: dict[_Key, Worker] = {}
        self._listed: frozenset[Worker] = frozenset()
        self._shares: list[tuple[Worker, float]] = []
        self._ring: WeightedRing[Worker] | None = None
        self.latest = EMPTY

    def __iter__(self) -> Iterator[Worker]:
        return iter(list(self._workers.values()))

    def update(self, queue: Queue, places: Mapping[tuple[str, int], Place]) -> Table:
        """The table for this queue; workers whose place is unknown are left out."""
        listed: set[Worker] = set()
        shares: list[tuple[Worker, float]] = []
        for entry in queue.workers:
            place = places.get((entry.host, entry.port))
            if place is None:
                continue
            worker = self._worker(entry.name, place)
            listed.add(worker)
            if _serves(entry):
                shares.append((worker, entry.weight))
        ring = self._ring_of(shares)
        self._listed = frozenset(listed)
        serving = frozenset(worker for worker, _ in shares)
        for worker in self:
            worker.tally.leaving = worker not in serving
        self.latest = Table(queue.epoch, queue.version, serving, ring)
        return self.latest

    def listed(self, worker: Worker) -> bool:
        """Whether the last queue named this worker."""
        return worker in self._listed

    def forget(self, worker: Worker) -> None:
        """It left the queue and its last counts were reported."""
        self._workers = {key: other for key, other in self._workers.items() if other is not worker}

    def _worker(self, name: str, place: Place) -> Worker:
        worker = self._workers.get((name, place))
        if worker is None:
            worker = self._workers[name, place] = Worker(name, *place, self._bell)
        return worker

    def _ring_of(self, shares: list[tuple[Worker, float]]) -> WeightedRing[Worker] | None:
        """Unchanged shares keep their ring, and with it the place where the walk has come to."""
        if shares != self._shares:
            members = [worker for worker, _ in shares]
            weights = [weight for _, weight in shares]
            self._ring = WeightedRing(members, weights, self._rng) if shares else None
            self._shares = shares
        return self._ring


def _serves(entry: Entry) -> bool:
    return entry.state in SERVING and entry.weight > 0
