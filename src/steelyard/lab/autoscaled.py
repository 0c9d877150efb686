"""The shipped fleet on virtual time: its commands start and stop the hands of a crew, and what the
hands do is reported to it as samples and reports.

Events between two ticks are reported at the second tick. No worker dies here or fails to start:
`bench soak` tests that.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator
from dataclasses import dataclass, field
from itertools import count

from steelyard.core import commands as cmd
from steelyard.core import events as ev
from steelyard.core.fleet import Fleet
from steelyard.core.meter import Rating
from steelyard.core.report import BOUNDS, Report, Traffic
from steelyard.core.rules import Rules
from steelyard.core.scaling.base import Policy
from steelyard.core.score import Weights
from steelyard.core.usage import Machine, Sample
from steelyard.lab.crew import Crew, Hand
from steelyard.lab.site import Site

EPOCH = "lab"
HOST, PORT = "127.0.0.1", 1
NONE = (0,) * len(BOUNDS)


@dataclass(slots=True)
class Scaled:
    """One run of one policy."""

    site: Site
    policy: Policy
    # Weights of the score that utilization comes from.
    weights: Weights = field(default_factory=Weights)
    crew: Crew = field(init=False)
    fleet: Fleet = field(init=False)
    hands: dict[str, Hand] = field(default_factory=dict)
    worker_seconds: float = 0.0
    actions: int = 0  # times that the policy changed the number of workers
    _boots: deque[tuple[float, str]] = field(default_factory=deque)
    _told: dict[str, tuple[int, float]] = field(default_factory=dict)
    _refused: int = 0

    def __post_init__(self) -> None:
        site, names = self.site, count(1)
        self.crew = Crew(site.slo, site.patience)
        rules = Rules(
            application="lab", source="", min=site.min, max=site.max, boot=site.boot + 60,
            rating=Rating(Machine(1, 1), self.weights),
        )  # fmt: skip
        self.fleet = Fleet(rules, self.policy, names=lambda: f"w{next(names)}", epoch=EPOCH)

    def open(self, workers: int) -> None:
        """Start with so many workers that already serve."""
        running = tuple(ev.Found(f"f{number}", HOST, PORT) for number in range(workers))
        for found in running:
            self.hands[found.worker] = Hand(found.worker)
        self._tell(ev.Reconciled(0.0, running), 0.0)
        for found in running:
            self._tell(ev.Probed(found.worker, ok=True, seconds=0.0), 0.0)
        self._sample(0.0)  # a base line: without it, no worker would look busy at the first tick

    @property
    def ready(self) -> int:
        return len(self.fleet.roster.in_ring())

    def tick(self, now: float) -> None:
        """Report what happened since the last tick, then let the policy decide."""
        self.worker_seconds += self.site.tick * len(self.hands)
        while self._boots and self._boots[0][0] <= now:
            _, name = self._boots.popleft()
            if name in self.hands:
                self._tell(ev.Probed(name, ok=True, seconds=0.0), now)
        self._sample(now)
        self._tell(ev.Reported(self._report(now)), now)
        self._tell(ev.Tick(), now)

    def _sample(self, now: float) -> None:
        samples = {name: Sample(now, hand.worked(now), 0) for name, hand in self.hands.items()}
        self._tell(ev.Sampled(samples), now)

    def _report(self, now: float) -> Report:
        queue = self.fleet.publication.queue
        refused = self.crew.tally.failed - self._refused
        self._refused += refused
        return Report(
            balancer="lab",
            epoch=EPOCH,
            version=-1 if queue is None else queue.version,
            workers=dict(self._traffic(now)),
            waiting=len(self.crew.line),
            wait_seconds=self.crew.wait(now),
            refused=refused,
        )

    def _traffic(self, now: float) -> Iterator[tuple[str, Traffic]]:
        for name, hand in self.hands.items():
            inflight = int(hand.free_at > now)
            before, seconds = self._told.get(name, (0, 0.0))
            done, worked = hand.taken - inflight, hand.worked(now)
            self._told[name] = (done, worked)
            yield name, Traffic(
                inflight=inflight, requests=done - before, failures=0, bytes=0,
                seconds=worked - seconds, histogram=(done - before, *NONE),
            )  # fmt: skip

    def _tell(self, event: ev.Event, now: float) -> None:
        for command in self.fleet.handle(event, now):
            match command:
                case cmd.Start(name):
                    self.hands[name] = Hand(name)
                    self._boots.append((now + self.site.boot, name))
                    self._tell(ev.Started(name, HOST, PORT), now)
                case cmd.Stop(name):
                    del self.hands[name]
                    self._told.pop(name, None)
                    self._tell(ev.Exited(name, "stopped"), now)
                case cmd.Publish(queue):
                    ring = [entry.name for entry in queue.workers if entry.weight]
                    self.crew.take_on((self.hands[name] for name in ring), now)
                case cmd.Decide(_, "up" | "down", _, _):
                    self.actions += 1
