"""Counters: the counts of the exchanges that this process has with each worker.

Only the data thread writes the counts; the control thread reads them without a lock. A reader may
see one count of an exchange and not yet another; the next report contains both.
"""

from __future__ import annotations

import contextlib
from asyncio import AbstractEventLoop, Event

from steelyard.core.report import BOUNDS

LAST = len(BOUNDS)  # the bucket for times above all bounds
FIRST = BOUNDS[0]
DOUBT = 2.0  # factor of the cost for each exchange in flight beyond the requests answered
DEAREST = 60.0  # seconds; no cost needs to be higher


def bucket(seconds: float) -> int:
    """Return the index of the histogram bucket of a response time; each bound is twice the last."""
    index, bound = 0, FIRST
    while seconds > bound and index < LAST:
        index += 1
        bound += bound
    return index


class Bell:
    """Wakes the control thread from the data thread. Before `hang`, `ring` does nothing."""

    __slots__ = ("_event", "_loop")

    def __init__(self) -> None:
        self._loop: AbstractEventLoop | None = None
        self._event: Event | None = None

    def hang(self, loop: AbstractEventLoop, event: Event) -> None:
        """Make `ring` set this event from now on."""
        self._event = event
        self._loop = loop

    def take_down(self) -> None:
        """Make `ring` do nothing again: the control thread's loop is about to end."""
        self._loop = None

    def ring(self) -> None:
        """Tell the control thread that there is something to report; any thread may call this."""
        loop, event = self._loop, self._event
        if loop is not None and event is not None:
            with contextlib.suppress(RuntimeError):  # the loop has just been closed
                loop.call_soon_threadsafe(event.set)


class Tally:
    """The counts of one worker since this process knows it. Selectors read them for every request,
    so every count is a plain attribute."""

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
        self.tunnels = 0  # exchanges in flight that have become tunnels
        self.cost = 0.0  # the latency estimate that the policy uses (latency.py); 0: unknown
        self.learned = 0.0  # the latency estimate after the last measurement
        self.seen = 0.0  # the time of the last measurement; 0: never
        self.requests = 0
        self.failures = 0
        self.ejections = 0
        self.sent = 0  # bytes to the worker
        self.received = 0  # bytes from the worker
        self.seconds = 0.0
        self.histogram = [0] * (len(BOUNDS) + 1)
        self.statuses = [0] * 10  # answers by the first digit of their status
        self.leaving = False  # the agent waits for the last exchange to end

    def first_byte(self, seconds: float, status: int) -> None:
        """Count an answer: the seconds until its first byte, and its status."""
        self.seconds += seconds
        self.histogram[bucket(seconds)] += 1
        self.statuses[status // 100] += 1

    def failed_try(self) -> None:
        """Count a request for which no connection could be opened."""
        self.requests += 1
        self.failures += 1

    def enter(self) -> None:
        """Count one exchange more in flight; only a lease calls this.

        The cost of a worker with more exchanges in flight than it ever finished is uncertain: it
        is the average of other workers, or rests on few answers. So each such exchange raises the
        cost until the next answer. Otherwise a slow worker would get a long queue before its first
        answer is measured.
        """
        self.inflight += 1
        if self.inflight > self.requests and self.cost < DEAREST:
            self.cost *= DOUBT

    def leave(self, failed: bool) -> None:
        """Count one exchange less in flight; only a lease calls this."""
        self.inflight -= 1
        self.requests += 1
        if failed:
            self.failures += 1
        if self.leaving and not self.inflight:
            self._bell.ring()


class Lease:
    """The share of one connection in its worker's in-flight count, which never counts twice."""

    __slots__ = ("_held", "_tally")

    def __init__(self, tally: Tally) -> None:
        self._tally = tally
        self._held = False

    def take(self) -> None:
        """Count the beginning of an exchange."""
        if not self._held:
            self._held = True
            self._tally.enter()

    def release(self, failed: bool) -> None:
        """Count the end of the exchange; a second call changes nothing."""
        if self._held:
            self._held = False
            self._tally.leave(failed)
