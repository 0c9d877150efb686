"""Counters: what a worker has to do for this process.

Only the data thread writes; the control thread reads without a lock. A reader may see one count
of an exchange and not yet the other: counts only grow, so the next report makes up for it.
"""

from __future__ import annotations

import contextlib
from asyncio import AbstractEventLoop, Event

from steelyard.core.report import BOUNDS

LAST = len(BOUNDS)  # the bucket of what is slower than all bounds
FIRST = BOUNDS[0]
DOUBT = 2.0  # times, for each exchange beyond what a worker has ever answered
DEAREST = 60.0  # seconds; no cost needs to be higher


def bucket(seconds: float) -> int:
    """The index of the histogram bucket that a response time falls into: bounds double."""
    index, bound = 0, FIRST
    while seconds > bound and index < LAST:
        index += 1
        bound += bound
    return index


class Bell:
    """Wakes the control thread from the data thread; before it hangs somewhere, it is silent."""

    __slots__ = ("_event", "_loop")

    def __init__(self) -> None:
        self._loop: AbstractEventLoop | None = None
        self._event: Event | None = None

    def hang(self, loop: AbstractEventLoop, event: Event) -> None:
        """From now on `ring` sets this event."""
        self._event = event
        self._loop = loop

    def take_down(self) -> None:
        """Be silent again: the control thread's loop is about to end."""
        self._loop = None

    def ring(self) -> None:
        """Say that there is something to report; from any thread."""
        loop, event = self._loop, self._event
        if loop is not None and event is not None:
            with contextlib.suppress(RuntimeError):  # the loop has just been closed
                loop.call_soon_threadsafe(event.set)


class Tally:
    """The counts of one worker, since it is known. Selectors choose by these, for every request:
    so all that they ask for is a plain attribute."""

    __slots__ = (
        "_bell",
        "cost",
        "ejections",
        "failures",
        "histogram",
        "inflight",
        "learned",
        "leaving",
        "received",
        "requests",
        "seconds",
        "seen",
        "sent",
        "statuses",
        "tunnels",
    )

    def __init__(self, bell: Bell) -> None:
        self._bell = bell
        self.inflight = 0
        self.tunnels = 0  # those of them that have become tunnels
        self.cost = 0.0  # estimated (latency.py), when the policy asks for it; 0: nothing is known
        self.learned = 0.0  # what it was when last measured
        self.seen = 0.0  # when it was last measured; 0: never
        self.requests = 0
        self.failures = 0
        self.ejections = 0
        self.sent = 0  # bytes to the worker
        self.received = 0  # bytes from it
        self.seconds = 0.0
        self.histogram = [0] * (len(BOUNDS) + 1)
        self.statuses = [0] * 10  # answers by the first digit of their status
        self.leaving = False  # someone waits for the last exchange to end

    def first_byte(self, seconds: float, status: int) -> None:
        """Note how long the worker took to begin its answer, and of which kind that is."""
        self.seconds += seconds
        self.histogram[bucket(seconds)] += 1
        self.statuses[status // 100] += 1

    def failed_try(self) -> None:
        """A request that could not even be sent."""
        self.requests += 1
        self.failures += 1

    def enter(self) -> None:
        """One exchange more; only a lease calls this.

        With more of them than it has ever answered, a worker's cost is hardly known: an average,
        or the luck of its first answers. Each of them makes it dearer, until the next answer, or a
        slow worker would have a long line before anybody knows.
        """
        self.inflight += 1
        if self.inflight > self.requests and self.cost < DEAREST:
            self.cost *= DOUBT

    def leave(self, failed: bool) -> None:
        """One exchange less; only a lease calls this."""
        self.inflight -= 1
        self.requests += 1
        if failed:
            self.failures += 1
        if self.leaving and not self.inflight:
            self._bell.ring()


class Lease:
    """A connection's place in its worker's in-flight count: held or not, so never counted twice."""

    __slots__ = ("_held", "_tally")

    def __init__(self, tally: Tally) -> None:
        self._tally = tally
        self._held = False

    def take(self) -> None:
        """An exchange begins."""
        if not self._held:
            self._held = True
            self._tally.enter()

    def release(self, failed: bool) -> None:
        """It is over; a second call changes nothing."""
        if self._held:
            self._held = False
            self._tally.leave(failed)
