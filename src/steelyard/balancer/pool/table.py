"""Table: the workers that get new requests, as one immutable object; Directory: makes the tables.

The directory lives in the control thread. It keeps the counts and connections of a worker from one
queue to the next, and makes a new table for each queue; the data thread then swaps one reference.
Between two queues, `tend` updates the table: weights rise (slow start), ejected workers come back,
and latency estimates of idle workers fade.
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

Place: TypeAlias = tuple[socket.AddressFamily, SocketAddress]  # a worker's resolved address
Shares: TypeAlias = list[tuple[Worker, float]]
_Key = tuple[str, Place]


class Choice:
    """The selectors of the data thread: the policy for first choices, and a ring of all workers for
    further choices.

    The policy does not see ejected workers, because some policies would choose such an idle worker
    over and over. When an ejection is over (`tend`), the policy sees the worker again, which then
    gets a trial request.
    """

    __slots__ = ("only", "pick", "ring")

    def __init__(self, policy: str, shares: Shares, favoured: Shares, rng: random.Random) -> None:
        self.ring: WeightedRing[Worker] = WeightedRing(*_columns(shares), rng)
        members, weights = _columns(favoured)
        tallies = [each.tally for each in members]
        self.only = tallies[0] if len(tallies) == 1 else None  # no policy is needed
        # `pick` of a keyed policy takes a key, `pick` of the others nothing (`Pool.keyed`).
        chosen = KEYED[policy] if policy in KEYED else POLICIES[policy]
        self.pick: Callable[..., Member] = chosen(tallies, weights, rng).pick


class Table:
    """The workers that the data thread chooses from. A table never changes once it is offered."""

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
        self.choice = choice  # None: no worker can get a request
        self.ended = ended  # workers that left the queue and are not forgotten yet
        self.closing = closing  # workers that will be stopped soon, even with open exchanges


EMPTY = Table("", 0, frozenset(), None)


class Directory:
    """All workers that the queue lists, or whose last counts are not reported yet."""

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
        self._named: set[str] = set()  # names of workers in the queues of this epoch
        self._weights: Shares = []  # the weights in the queue
        self._shares: tuple[Shares, Shares] = ([], [])  # present weights: of all, of not ejected
        self._choice: Choice | None = None
        self._tended = 0.0
        self._answers = 0  # the number of answers at `_tended`
        self.latest = EMPTY

    def __iter__(self) -> Iterator[Worker]:
        return iter(list(self._workers.values()))

    def update(self, queue: Queue, places: Mapping[tuple[str, int], Place], now: float) -> Table:
        """Return the table for this queue, without the workers whose address is not resolved."""
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
        """Return a new table if time alone has changed the weights or ejections, else None."""
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
        """Forget a worker that left the queue and whose last counts were reported."""
        self._workers = {key: other for key, other in self._workers.items() if other is not worker}

    def _ended(self, queue: Queue) -> frozenset[Worker]:
        """Return the workers that earlier queues of this epoch named and this queue does not. An
        agent that has just started (a new epoch) may not know all workers yet."""
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
        """Make a new choice if the shares have changed. Unchanged shares keep their choice, and so
        the position of the ring."""
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
