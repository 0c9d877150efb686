"""Table: which workers get new requests, as one immutable object; and who makes it.

The directory lives in the control thread. It keeps a worker's counts and connections from queue to
queue and gives out a new table for each; the data thread then swaps one reference. Between queues
it is tended: weights rise (slow start), ejected workers come back, costs that nobody measures fade.
"""

from __future__ import annotations

import random
import socket
from collections.abc import Callable, Iterator, Mapping
from typing import TypeAlias

from steelyard.balancer.pool.counters import Bell
from steelyard.balancer.pool.guard import Guards
from steelyard.balancer.pool.latency import assume, forget
from steelyard.balancer.pool.slow_start import SlowStart
from steelyard.balancer.pool.worker import Member, SocketAddress, Worker
from steelyard.config.settings import Gateway
from steelyard.core.lifecycle import SERVING
from steelyard.core.queue import Entry, Queue
from steelyard.select import KEYED, POLICIES, WeightedRing

Place: TypeAlias = tuple[socket.AddressFamily, SocketAddress]  # where a worker listens, resolved
Shares: TypeAlias = list[tuple[Worker, float]]
_Key = tuple[str, Place]


class Choice:
    """How the data thread chooses: the policy's first choice, and a ring of all for the next.

    Who is ejected is not among the first choices, because some policies would find such an idle
    worker over and over. When that is over (`tend`) it is, and gets its trial.
    """

    __slots__ = ("only", "pick", "ring")

    def __init__(self, policy: str, shares: Shares, favoured: Shares, rng: random.Random) -> None:
        self.ring: WeightedRing[Worker] = WeightedRing(*_columns(shares), rng)
        members, weights = _columns(favoured)
        tallies = [each.tally for each in members]
        self.only = tallies[0] if len(tallies) == 1 else None  # then nobody need be asked
        # A policy with a key is given one, the others nothing: `Pool.keyed` knows.
        chosen = KEYED[policy] if policy in KEYED else POLICIES[policy]
        self.pick: Callable[..., Member] = chosen(tallies, weights, rng).pick


class Table:
    """What the data thread serves from. Nothing in it changes once it is offered."""

    __slots__ = ("choice", "closing", "ended", "epoch", "serving", "version")

    def __init__(
        self,
        epoch: str,
        version: int,
        serving: frozenset[Worker],
        choice: Choice | None,
        ended: frozenset[Worker] = frozenset(),
        closing: frozenset[Worker] = frozenset(),
    ) -> None:
        self.epoch = epoch
        self.version = version
        self.serving = serving
        self.choice = choice  # None: there is nobody to send a request to
        self.ended = ended  # and not yet done with
        self.closing = closing  # will be stopped in a moment, done with or not


EMPTY = Table("", 0, frozenset(), None)


class Directory:
    """Every worker this process knows or has unfinished business with."""

    def __init__(
        self, bell: Bell, rng: random.Random, limits: Gateway, guards: Guards | None = None
    ) -> None:
        """`guards`: for workers of an agent, each of which has its address for one life only."""
        self._guards = guards
        self._bell = bell
        self._rng = rng
        self._policy = limits.policy
        self._slow_start: SlowStart[Worker] = SlowStart(limits.slow_start)
        self._workers: dict[_Key, Worker] = {}
        self._listed: frozenset[Worker] = frozenset()
        self._named: set[str] = set()  # by the queues of this epoch
        self._weights: Shares = []  # as the queue has them
        self._shares: tuple[Shares, Shares] = ([], [])  # as they count now; of who is not ejected
        self._choice: Choice | None = None
        self._tended = 0.0
        self._answers = 0  # until then
        self.latest = EMPTY

    def __iter__(self) -> Iterator[Worker]:
        return iter(list(self._workers.values()))

    def update(self, queue: Queue, places: Mapping[tuple[str, int], Place], now: float) -> Table:
        """The table for this queue; workers whose place is unknown are left out."""
        listed: set[Worker] = set()
        closing: set[Worker] = set()
        weights: Shares = []
        for entry in queue.workers:
            place = places.get((entry.host, entry.port))
            if place is None:
                continue
            worker = self._worker(entry.name, place)
            listed.add(worker)
            if entry.closing:
                closing.add(worker)
            if _serves(entry):
                weights.append((worker, entry.weight))
                if self._guards is not None and worker.guard is None:
                    worker.guard = self._guards.guard(worker.family, worker.address[:2])
        serving = frozenset(worker for worker, _ in weights)
        self._slow_start.enter(serving, now)
        self._weights = weights
        self._choose(now)
        self._listed = frozenset(listed)
        for worker in self:
            worker.tally.leaving = worker not in serving
        ended = self._ended(queue)
        self.latest = Table(
            queue.epoch, queue.version, serving, self._choice, ended, frozenset(closing)
        )
        return self.latest

    def tend(self, now: float) -> Table | None:
        """Between queues: a new table when time alone has changed something."""
        tallies = [worker.tally for worker in self]
        answers = sum(tally.requests for tally in tallies)
        forget(tallies, self._tended, now, max(0, answers - self._answers))
        self._tended, self._answers = now, answers
        if not self._choose(now):
            return None
        last = self.latest
        self.latest = Table(
            last.epoch, last.version, last.serving, self._choice, last.ended, last.closing
        )
        return self.latest

    def listed(self, worker: Worker) -> bool:
        """Whether the last queue named this worker."""
        return worker in self._listed

    def forget(self, worker: Worker) -> None:
        """It left the queue and its last counts were reported."""
        self._workers = {key: other for key, other in self._workers.items() if other is not worker}

    def _ended(self, queue: Queue) -> frozenset[Worker]:
        """Whom this agent has named before, and names no longer. A new one may not know all yet."""
        named = {entry.name for entry in queue.workers}
        before = self._named if queue.epoch == self.latest.epoch else set()
        ended = frozenset(worker for worker in self if worker.name in before - named)
        self._named = named | {worker.name for worker in ended}
        return ended

    def _worker(self, name: str, place: Place) -> Worker:
        worker = self._workers.get((name, place))
        if worker is None:
            worker = self._workers[name, place] = Worker(name, *place, self._bell)
        return worker

    def _choose(self, now: float) -> bool:
        """Unchanged shares keep their choice, and with it the place where the walk has come to."""
        shares = [
            (worker, weight * self._slow_start.factor(worker, now))
            for worker, weight in self._weights
        ]
        favoured = [share for share in shares if share[0].record.until <= now] or shares
        if (shares, favoured) == self._shares:
            return False
        assume(worker.tally for worker, _ in shares)
        self._choice = Choice(self._policy, shares, favoured, self._rng) if shares else None
        self._shares = (shares, favoured)
        return True


def _columns(shares: Shares) -> tuple[list[Worker], list[float]]:
    return [worker for worker, _ in shares], [weight for _, weight in shares]


def _serves(entry: Entry) -> bool:
    return entry.state in SERVING and entry.weight > 0
