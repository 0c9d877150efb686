"""A job whose units are pulled: a node asks the client for its next unit when it has ended one.

The rules are simple. A pull carries the last result. A pull that finds nothing is parked, and
answered when a unit comes back. A unit held by a dead node goes to the front. Near the end a unit
that takes three times as long as usual may be given to a faster node, too. Or the rules are those
of seed 002: a channel tells which nodes are idle, and the oldest unit under way is given out again
when nothing else is left. The mesh's own rules are not here: `lab/mesh.py` runs the shipped code.
"""

from __future__ import annotations

from bisect import insort
from collections import deque
from collections.abc import Callable
from enum import Enum
from math import inf
from typing import Any

from steelyard.lab.job import Attempt, Job, Node, Outcome
from steelyard.lab.push import Network
from steelyard.lab.timeline import Timeline

LATE = 3.0  # times the median seconds of a unit; after that it is late
FASTER = 2.0  # a copy goes to nodes that are so many times faster than all nodes with one


class Hedge(Enum):
    """The unit that an idle node gets when every unit is under way."""

    NOTHING = "nothing"
    FASTER = "what is late with nodes of half its pace"
    OLDEST = "the oldest"  # the rule of seed 002, with its channels


class Pull:
    """One job, from its first unit to its last."""

    def __init__(self, job: Job, hedge: Hedge, network: Network) -> None:
        self._job, self._hedge, self._network = job, hedge, network
        self._timeline = Timeline()
        self._nodes = [Node(number, speed, self._timeline, self._finished)
                       for number, speed in enumerate(job.speeds)]  # fmt: skip
        self._todo = deque(range(len(job.works)))
        self._held: dict[int, list[Attempt]] = {}  # attempts under way by unit, the oldest first
        self._parked: deque[Node] = deque()
        self._gone: set[Node] = set()  # nodes that are known to be dead
        self._done: set[int] = set()
        self._times: list[float] = []  # the seconds that units took, sorted
        self._paces: dict[Node, list[float]] = {node: [] for node in self._nodes}
        self._looking = False
        self._told = Outcome()
        for number, time in job.deaths.items():
            self._timeline.at(time, self._die, self._nodes[number])

    def run(self) -> Outcome:
        """Run until the last result is with the client."""
        for node in self._nodes:
            self._send(self._pulled, node)
        self._timeline.run()
        told = self._told
        told.used = sum(node.busy * node.speed for node in self._nodes)
        told.used /= self._job.capacity(told.makespan)
        return told

    # The client.

    def _pulled(self, node: Node) -> None:
        """Answer a pull with a unit, or park it."""
        if node in self._gone:
            return
        unit = self._next(node)
        if unit is None:
            self._park(node)
            return
        attempt = Attempt(unit, self._job.works[unit])
        attempt.node, attempt.came = node, self._timeline.now
        self._held.setdefault(unit, []).append(attempt)
        self._send(node.take, attempt)

    def _result(self, attempt: Attempt) -> None:
        """Take a result and the next pull, which come in one message."""
        unit = attempt.number
        if unit in self._done:
            self._told.lost += attempt.work
        else:
            self._done.add(unit)
            self._held.pop(unit)
            took = self._timeline.now - attempt.came
            insort(self._times, took)
            insort(self._paces[attempt.node], took)
            self._told.delivered += 1
            if len(self._done) == len(self._job.works):
                self._over()
                return
        self._pulled(attempt.node)

    def _next(self, node: Node) -> int | None:
        if self._todo:
            return self._todo.popleft()
        if self._hedge is Hedge.OLDEST:
            return self._oldest(node)
        return None if self._hedge is Hedge.NOTHING else self._late(node)

    def _oldest(self, node: Node) -> int | None:
        """The head of the queue of units under way, which then goes to its end, as in the seed."""
        for unit, attempts in self._held.items():
            if all(attempt.node is not node for attempt in attempts):
                self._held[unit] = self._held.pop(unit)
                return unit
        return None

    def _late(self, node: Node) -> int | None:
        limit = self._timeline.now - self._patience
        for unit, attempts in self._held.items():
            if attempts[0].came <= limit and self._may(node, attempts):
                return unit
        return None

    def _may(self, node: Node, attempts: list[Attempt]) -> bool:
        """Whether the node is fast enough for a copy: a slower one would block a copy that
        helps.
        """
        mine = self._pace(node)
        return all(FASTER * mine <= self._pace(attempt.node) for attempt in attempts)

    def _pace(self, node: Node) -> float:
        """The median seconds of a unit there; a node that has ended none counts as slow."""
        times = self._paces[node]
        return times[len(times) // 2] if times else inf

    @property
    def _patience(self) -> float:
        """Seconds until a unit is late; infinite before the first result."""
        return LATE * self._times[len(self._times) // 2] if self._times else inf

    def _park(self, node: Node) -> None:
        """Park a pull. It is looked at again when all units of now would be late: only time makes a
        unit late.
        """
        self._parked.append(node)
        if self._hedge is Hedge.FASTER and not self._looking and self._times:
            self._looking = True
            self._timeline.at(self._timeline.now + self._patience, self._look, None)

    def _look(self, _: None) -> None:
        self._looking = False
        for _each in range(len(self._parked)):
            self._pulled(self._parked.popleft())

    def _over(self) -> None:
        """End the job: nodes that still work on a copy do so for nothing."""
        self._told.makespan = self._timeline.now
        self._told.lost += sum(node.stop() for node in self._nodes)
        self._parked.clear()
        self._gone.update(self._nodes)  # results on their way would ask for more

    # Failures.

    def _die(self, node: Node) -> None:
        self._told.lost += node.stop()
        self._timeline.at(self._timeline.now + self._network.notice, self._notice, node)

    def _notice(self, node: Node) -> None:
        """Put the units of a dead node back to the front, unless another node has them, too."""
        self._gone.add(node)
        for unit, attempts in list(self._held.items()):
            attempts[:] = [attempt for attempt in attempts if attempt.node is not node]
            if not attempts:
                del self._held[unit]
                self._todo.appendleft(unit)
                self._wake()

    def _wake(self) -> None:
        """Wake one parked node for each unit."""
        while self._parked and self._todo:
            self._pulled(self._parked.popleft())

    # Messages.

    def _finished(self, attempt: Attempt) -> None:
        if self._hedge is Hedge.OLDEST:
            # The node tells the channel that it is idle, the client tells all nodes that it has
            # units, and the node asks for one in a call apart from the result.
            self._told.messages += 2 + len(self._nodes)
        self._send(self._result, attempt)

    def _send(self, to: Callable[[Any], None], what: Any) -> None:
        self._told.messages += 1
        self._timeline.at(self._timeline.now + self._network.hop, to, what)
