"""A job under a central balancer: it sends each unit to a node that its policy picks.

The client keeps a window of units open, as one with a pool of connections does; each answer lets
the next unit go. The balancer knows of a node only what it counts and times itself.
"""

from __future__ import annotations

import random
from collections import deque
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from steelyard.lab.gauge import gauge_for
from steelyard.lab.job import Attempt, Job, Node, Outcome
from steelyard.lab.timeline import Timeline
from steelyard.select import KEYED, POLICIES


@dataclass(frozen=True, slots=True)
class Network:
    """How long messages take, and how long a death goes unnoticed."""

    hop: float = 0.001  # seconds that a message takes
    notice: float = 1.0  # seconds until others know that a node has died


@dataclass(frozen=True, slots=True)
class Central:
    """The settings of a balancer."""

    policy: str
    informed: bool = False  # the weights are the speeds; otherwise all are equal
    # A node gets its next unit when it has answered; other units wait at the balancer.
    one_each: bool = False
    window: int = 4  # units open, per node
    restart: float = 10.0  # seconds until a balancer that died is started again


class View:
    """A node as the balancer knows it."""

    __slots__ = ("cost", "inflight", "name", "node", "open")

    def __init__(self, node: Node) -> None:
        self.node = node
        self.name = f"node-{node.number}"
        self.inflight = 0
        self.cost = 0.0
        self.open: set[Attempt] = set()


class Push:
    """One job, from its first unit to its last."""

    def __init__(
        self, job: Job, central: Central, network: Network, seed: int, crash: float | None = None
    ) -> None:
        self._job, self._central, self._network = job, central, network
        self._rng = random.Random(seed)
        self._timeline = Timeline()
        self._gauge: Any = gauge_for(central.policy)
        nodes = [Node(number, speed, self._timeline, self._finished)
                 for number, speed in enumerate(job.speeds)]  # fmt: skip
        self._nodes = nodes
        self._views = [View(node) for node in nodes]
        self._todo = deque(range(len(job.works)))  # units at the client
        self._line: deque[int] = deque()  # units at the balancer
        self._told = Outcome()
        self._down = False
        self._choose()
        for number, time in job.deaths.items():
            self._timeline.at(time, self._die, self._views[number])
        if crash is not None:
            self._timeline.at(crash, self._crash, None)

    def run(self) -> Outcome:
        """Run until the last answer is with the client."""
        for _ in range(self._central.window * len(self._nodes)):
            self._submit()
        self._timeline.run()
        told = self._told
        told.used = sum(node.busy * node.speed for node in self._nodes)
        told.used /= self._job.capacity(told.makespan)
        return told

    # The client.

    def _submit(self) -> None:
        if self._todo and not self._down:
            self._send(self._place, self._todo.popleft())

    def _deliver(self, _: Attempt) -> None:
        told = self._told
        told.delivered += 1
        told.makespan = self._timeline.now
        if told.delivered == len(self._job.works):  # nodes that still work do so for nothing
            told.lost += sum(node.stop() for node in self._nodes)
        self._submit()

    # The balancer.

    def _place(self, unit: int) -> None:
        if self._down:
            self._todo.appendleft(unit)
        elif self._central.one_each and all(view.inflight for view in self._serving):
            self._line.append(unit)
        else:
            self._try(unit)

    def _try(self, unit: int) -> None:
        view = self._pick(unit)
        attempt = Attempt(unit, self._job.works[unit])
        view.inflight += 1
        view.open.add(attempt)
        attempt.worker, attempt.joined, attempt.came = view, view.inflight, self._timeline.now
        self._send(view.node.take, attempt)

    def _answered(self, attempt: Attempt) -> None:
        if attempt.void:  # its connection is long gone
            self._told.lost += attempt.work
            return
        view: Any = attempt.worker
        view.inflight -= 1
        view.open.discard(attempt)
        attempt.ended = self._timeline.now
        if self._gauge is not None:
            self._gauge(attempt)
        self._send(self._deliver, attempt)
        if self._line:
            self._try(self._line.popleft())

    def _choose(self) -> None:
        """Make a selector of the nodes that are not known to be dead."""
        gone = {number for number, time in self._job.deaths.items()
                if time + self._network.notice <= self._timeline.now}  # fmt: skip
        self._serving = [view for view in self._views if view.node.number not in gone]
        weights = [view.node.speed if self._central.informed else 1.0 for view in self._serving]
        self._pick = picker(self._central.policy, self._serving, weights, self._rng)

    # Failures.

    def _die(self, view: View) -> None:
        self._told.lost += view.node.stop()
        self._timeline.at(self._timeline.now + self._network.notice, self._notice, view)

    def _notice(self, view: View) -> None:
        """Try the units of the dead node elsewhere."""
        self._choose()
        self._again(view)

    def _again(self, view: View) -> None:
        units = [attempt.number for attempt in self._abandon(view)]
        for unit in sorted(units):
            self._place(unit)

    def _abandon(self, view: View) -> list[Attempt]:
        attempts = sorted(view.open, key=lambda attempt: attempt.number)
        for attempt in attempts:
            attempt.void = True
        view.open.clear()
        view.inflight = 0
        return attempts

    def _crash(self, _: None) -> None:
        """Break every connection; the nodes do not know that their results are no longer
        awaited.
        """
        self._down = True
        open_units = [one.number for view in self._views for one in self._abandon(view)]
        self._todo.extendleft(sorted([*open_units, *self._line], reverse=True))
        self._line.clear()
        self._timeline.at(self._timeline.now + self._central.restart, self._restarted, None)

    def _restarted(self, _: None) -> None:
        self._down = False
        self._choose()
        for _each in range(self._central.window * len(self._serving)):
            self._submit()

    # Messages.

    def _finished(self, attempt: Attempt) -> None:
        self._send(self._answered, attempt)

    def _send(self, to: Callable[[Any], None], what: Any) -> None:
        self._told.messages += 1
        self._timeline.at(self._timeline.now + self._network.hop, to, what)


def picker(
    policy: str, views: Sequence[View], weights: Sequence[float], rng: random.Random
) -> Callable[[int], View]:
    """A function that picks by any policy; for a policy with keys, the unit is the key."""
    if policy in KEYED:
        keyed = KEYED[policy](views, weights, rng).pick
        return lambda unit: keyed(b"unit %d" % unit)
    pick = POLICIES[policy](views, weights, rng).pick
    return lambda _: pick()
