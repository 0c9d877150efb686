"""A crew: workers that come and go, with one waiting line in front, as in a balancer with
`worker_concurrency = 1`.

A request goes to the worker that is free first, and the line is first come, first served. So no
heap of events is needed: the start of a request follows from the time at which each worker is free
(Kiefer and Wolfowitz 1955). That way a million requests take a second or two.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from heapq import heapify, heapreplace


class Hand:
    """One worker."""

    __slots__ = ("busy", "free_at", "name", "taken")

    def __init__(self, name: str) -> None:
        self.name = name
        self.free_at = 0.0
        self.busy = 0.0  # seconds of work accepted in total
        self.taken = 0  # requests accepted in total

    def worked(self, now: float) -> float:
        """Seconds that the worker has worked until now."""
        return self.busy - max(0.0, self.free_at - now)


@dataclass(slots=True)
class Tally:
    """How the requests of a run ended."""

    came: int = 0
    failed: int = 0  # requests that waited too long, and were refused
    late: int = 0  # requests that were answered, but not within the SLO
    # Of the late ones, those whose own work exceeds the SLO: late with any number of workers.
    long: int = 0

    @property
    def bad(self) -> float:
        """The share of requests that failed or were late."""
        return (self.failed + self.late) / self.came if self.came else 0.0

    @property
    def waited(self) -> int:
        """Requests that failed or were late because they had to wait."""
        return self.failed + self.late - self.long

    def __add__(self, other: Tally) -> Tally:
        return Tally(
            self.came + other.came, self.failed + other.failed,
            self.late + other.late, self.long + other.long,
        )  # fmt: skip


class Crew:
    """A set of hands with one waiting line. All times are in seconds; a request is refused when it
    has waited for `patience`.
    """

    def __init__(self, slo: float, patience: float) -> None:
        self.tally = Tally()
        self.line: list[tuple[float, float]] = []  # (arrival, work) of each waiting request
        self._slo = slo
        self._patience = patience
        self._ring: list[Hand] = []

    def take_on(self, hands: Iterable[Hand], now: float) -> None:
        """Give requests to these hands from now on; others finish what they have."""
        self._ring = list(hands)
        for hand in self._ring:
            hand.free_at = max(hand.free_at, now)

    def serve(self, requests: Sequence[tuple[float, float]], until: float) -> None:
        """Add requests, as (time, work), in order; start all that can start before `until`."""
        self.tally.came += len(requests)
        queue = [*self.line, *requests] if self.line else requests
        begun = self._begin(queue, until) if self._ring else 0
        self.line = self._patient(queue, begun, until)

    def wait(self, now: float) -> float:
        """How long the first request in the line has waited."""
        return now - self.line[0][0] if self.line else 0.0

    def _begin(self, queue: Sequence[tuple[float, float]], until: float) -> int:
        """Start requests of the queue; return how many have started or given up."""
        # Locals, and no function call for each request: this loop is the whole cost of a run.
        slo, patience, failed, late, long = self._slo, self._patience, 0, 0, 0
        free = [(hand.free_at, number) for number, hand in enumerate(self._ring)]
        heapify(free)
        busy, taken = [0.0] * len(free), [0] * len(free)
        done = len(queue)
        for index, (came, work) in enumerate(queue):
            start, number = free[0]
            if start < came:
                start = came
            if start >= until:
                done = index
                break
            if start - came > patience:
                failed += 1
                continue
            end = start + work
            heapreplace(free, (end, number))
            busy[number] += work
            taken[number] += 1
            if end - came > slo:
                late += 1
                long += work > slo
        for end, number in free:
            hand = self._ring[number]
            hand.free_at = end
            hand.busy += busy[number]
            hand.taken += taken[number]
        self.tally.failed += failed
        self.tally.late += late
        self.tally.long += long
        return done

    def _patient(
        self, queue: Sequence[tuple[float, float]], begun: int, now: float
    ) -> list[tuple[float, float]]:
        """The requests that still wait; the others have given up."""
        first = begun
        while first < len(queue) and now - queue[first][0] > self._patience:
            first += 1
        self.tally.failed += first - begun
        return list(queue[first:])
