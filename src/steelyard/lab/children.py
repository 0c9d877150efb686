"""The children of one simulated node: its pool, on virtual time.

Like the real pool, they report several ends together while they have enough to do (decision 25).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from steelyard.lab.timeline import Timeline
from steelyard.mesh.execution.outcome import Kind
from steelyard.mesh.protocol.crew_events import Ended

LONGEST_NAP = 0.1  # seconds between two looks at the units that have ended
RECENT = 0.2  # weight of the newest unit in the mean


@dataclass(eq=False, slots=True)
class Run:
    """One unit at a child."""

    ticket: int
    work: float
    began: float


class Children:
    """Runs units in the order in which they come, at the speed of the node."""

    def __init__(
        self, count: int, speed: float, timeline: Timeline, tell: Callable[[Sequence[Ended]], None]
    ) -> None:
        self.worked = 0.0  # seconds at speed 1, lost work included
        self._count, self._speed, self._timeline = count, speed, timeline
        self._tell = tell
        self._waiting: dict[int, float] = {}  # work by ticket
        self._running: dict[int, Run] = {}  # by ticket
        self._ended: list[Ended] = []  # ends that were not reported yet
        self._awake_at = 0.0
        self._mean = LONGEST_NAP  # seconds per unit

    def start(self, ticket: int, work: float) -> None:
        """Run a unit as soon as a child is free."""
        self._waiting[ticket] = work
        self._next()

    def recall(self) -> tuple[int, ...]:
        """Give back the units that no child has begun."""
        waiting, self._waiting = tuple(self._waiting), {}
        self._wake()
        return waiting

    def cancel(self, ticket: int) -> None:
        """Stop a unit, whether it runs or waits."""
        waited = self._waiting.pop(ticket, None)
        if waited is not None:
            self._end(Ended(ticket, Kind.CANCELLED))
        elif ticket in self._running:
            self._end(Ended(ticket, Kind.CANCELLED, seconds=self._leave(self._running[ticket])))
            self._next()
        self._wake()

    def stop(self) -> None:
        """Stop all children, with the units that they run."""
        self._waiting.clear()
        for run in list(self._running.values()):
            self._leave(run)

    def _next(self) -> None:
        while self._waiting and len(self._running) < self._count:
            ticket = next(iter(self._waiting))
            run = Run(ticket, self._waiting.pop(ticket), self._timeline.now)
            self._running[ticket] = run
            self._timeline.at(run.began + run.work / self._speed, self._done, run)

    def _done(self, run: Run) -> None:
        if run.ticket in self._running:  # it was neither cancelled nor stopped
            seconds = self._leave(run)
            self._mean += RECENT * (seconds - self._mean)
            self._end(Ended(run.ticket, Kind.VALUE, seconds=seconds))
            self._next()

    def _leave(self, run: Run) -> float:
        """Remove a unit that ran; return for how long it did."""
        del self._running[run.ticket]
        seconds = self._timeline.now - run.began
        self.worked += seconds * self._speed
        return seconds

    def _end(self, end: Ended) -> None:
        self._ended.append(end)
        self._timeline.at(max(self._awake_at, self._timeline.now), self._look, None)

    def _wake(self) -> None:
        """Look later at this moment: the caller of `cancel` has not finished yet."""
        self._awake_at = self._timeline.now
        self._timeline.at(self._awake_at, self._look, None)

    def _look(self, _: None) -> None:
        """Report the units that have ended, and nap while there is enough to do."""
        if not self._ended or self._timeline.now < self._awake_at:
            return
        ended, self._ended = self._ended, []
        self._tell(ended)
        ahead = (len(self._waiting) + len(self._running)) // self._count - 1
        self._awake_at = self._timeline.now + max(0.0, min(LONGEST_NAP, ahead * self._mean / 2))
