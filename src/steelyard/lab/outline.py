"""A fleet in outline, for traces of weeks: the shipped policy decides by the same kind of view, but
the rest of the fleet is left out: scores other than CPU, records, the queue.

It takes a tenth of the time. `lab scaling` runs both on the same traffic, so that one can see the
effect of what the outline leaves out.
"""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass, field
from itertools import count

from steelyard.core.lifecycle import Cuts
from steelyard.core.scaling.base import Policy, View
from steelyard.lab.crew import Crew, Hand
from steelyard.lab.site import Site

CUTS = Cuts()
DWELL_DOWN = 30.0  # seconds; the default of the fleet's rule


class Rated(Hand):
    """A hand with what a view needs to know of it."""

    __slots__ = ("before", "idle_since", "ready_at", "used")

    def __init__(self, name: str, ready_at: float) -> None:
        super().__init__(name)
        self.ready_at = ready_at
        self.before = 0.0  # seconds worked at the last tick
        self.used = 0.0  # percent
        self.idle_since: float | None = ready_at  # since when it is in state LU, lightly used

    def idle_for(self, now: float) -> float:
        """How long it has been in state LU; negative if it is not."""
        return -1.0 if self.idle_since is None else now - self.idle_since

    def rate(self, now: float, tick: float, cuts: Cuts) -> None:
        """Measure the utilization since the last tick."""
        worked = self.busy - self.free_at + now if self.free_at > now else self.busy
        self.used = used = min(100.0, 100.0 * (worked - self.before) / tick)
        self.before = worked
        if self.idle_since is None:
            if used < cuts.low - cuts.hysteresis:
                self.idle_since = now
        elif used >= cuts.low:
            self.idle_since = None


@dataclass(slots=True)
class Outline:
    """One run of one policy."""

    site: Site
    policy: Policy
    crew: Crew = field(init=False)
    worker_seconds: float = 0.0
    actions: int = 0
    _hands: list[Rated] = field(default_factory=list)  # hands that boot or serve, the oldest first
    _leaving: list[Rated] = field(default_factory=list)
    _ring: list[Rated] = field(default_factory=list)
    _last_action: float | None = None
    _boots: deque[float] = field(default_factory=lambda: deque(maxlen=8))
    _names: count[int] = field(default_factory=count)

    def __post_init__(self) -> None:
        self.crew = Crew(self.site.slo, self.site.patience)

    def open(self, workers: int) -> None:
        """Start with so many workers that already serve."""
        self._start(workers, 0.0)
        self._ring = list(self._hands)
        self.crew.take_on(self._ring, 0.0)

    @property
    def ready(self) -> int:
        return len(self._ring)

    def tick(self, now: float) -> None:
        """Measure what happened since the last tick, then let the policy decide."""
        site = self.site
        self.worker_seconds += site.tick * (len(self._hands) + len(self._leaving))
        self._leaving = [hand for hand in self._leaving if hand.free_at > now]
        for hand in self._ring:
            hand.rate(now, site.tick, CUTS)
        if len(self._ring) < len(self._hands):
            self._greet(now)
        verdict = self.policy.decide(self._view(now))
        if verdict.change > 0:
            self._act(now)
            self._start(min(verdict.change, site.max - len(self._hands)), now + site.boot)
        elif verdict.change < 0:
            self._retire(-verdict.change, now)

    def _view(self, now: float) -> View:
        tally, line = self.crew.tally, len(self.crew.line)
        inflight = sum(hand.free_at > now for hand in self._ring)
        return View(
            now=now,
            workers=len(self._hands),
            booting=len(self._hands) - len(self._ring),
            min=self.site.min,
            max=self.site.max,
            utilization={hand.name: hand.used for hand in self._ring},
            retirable=len(self._retirable(now)),
            last_action=self._last_action,
            open=inflight + line,
            completed=tally.came - line - inflight,
            wait=self.crew.wait(now),
            boot=max(self._boots, default=None),
        )

    def _retirable(self, now: float) -> list[Rated]:
        others = [hand for hand in self._hands[self.site.min :] if hand.ready_at <= now]
        if not self.policy.spares_busy:
            return others
        return [hand for hand in others if hand.idle_for(now) >= DWELL_DOWN]

    def _greet(self, now: float) -> None:
        ring = [hand for hand in self._hands if hand.ready_at <= now]
        if len(ring) > len(self._ring):
            self._boots.append(self.site.boot)
            self._ring = ring
            self.crew.take_on(ring, now)

    def _start(self, number: int, ready_at: float) -> None:
        self._hands += [Rated(f"w{next(self._names)}", ready_at) for _ in range(number)]

    def _retire(self, number: int, now: float) -> None:
        newest_first = self._retirable(now)[::-1]
        idle_first = sorted(newest_first, key=lambda hand: hand.free_at > now)
        going = set(idle_first[: min(number, len(self._hands) - self.site.min)])
        if going:
            self._act(now)
            self._leaving += going
            self._hands = [hand for hand in self._hands if hand not in going]
            self._ring = [hand for hand in self._ring if hand not in going]
            self.crew.take_on(self._ring, now)

    def _act(self, now: float) -> None:
        self.actions += 1
        self._last_action = now
