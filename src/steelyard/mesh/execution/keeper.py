"""Keeps children at work: carries out the dealer's decisions, and reports the results to it.

It is not thread-safe: the pool holds a lock.
"""

from __future__ import annotations

import logging
import os
import select
import selectors
import signal
import threading
import time
from collections.abc import Iterable, Sequence

from steelyard.mesh.execution import capture, wire
from steelyard.mesh.execution.brood import Brood
from steelyard.mesh.execution.dealer import Dealer, Verdict
from steelyard.mesh.execution.orders import read_answer, send_order
from steelyard.mesh.execution.outcome import Failure, Kind, Outcome
from steelyard.mesh.execution.parcel import INLINE, SHORTAGES
from steelyard.mesh.execution.slots import Phase, Slot
from steelyard.mesh.execution.unit import Unit

log = logging.getLogger(__name__)

TICK = 0.05  # seconds between two checks of deadlines
SLOW_TICK = 1.0  # seconds between two checks of the children's output
LONGEST_NAP, SHORTEST_NAP = 0.1, 0.001  # seconds; poll() rounds up to milliseconds
ROOM = 64 * 1024  # bytes of answers that fit into a child's socket in any case
RECENT = 0.2  # weight of the newest answer in the mean of their sizes
START_LIMIT = 60.0  # seconds for a nursery to start, with its preloaded modules
GIVE_UP = 3  # nurseries that failed to start in a row
PAUSE = 0.5  # seconds after a failed start
CONTROL = -1  # stands for the nursery among the numbers of children


class Keeper:
    """A dealer, and the brood that it hands units to."""

    def __init__(self, children: int, preload: Sequence[str], path: Sequence[str] = ()) -> None:
        self.outbox: list[Outcome] = []
        self.dealer = Dealer(children)
        self._count, self._preload, self._path = children, tuple(preload), tuple(path)
        self._unwanted: set[int] = set()
        self._failed_starts = 0
        self._is_lost = False  # there is no brood, and the machine has no room for another one
        self._size = 1.0  # mean bytes of an answer
        self.selector = selectors.DefaultSelector()
        self.bell = select.poll()  # its events end a nap; answers of children do not
        self.up = threading.Event()  # set when the nursery has started and forks
        self._begin()

    def _begin(self) -> None:
        self.up.clear()
        self._born = time.monotonic()
        self._brood = Brood(self._count, self._preload, self._path)
        self.selector.register(self._brood.control, selectors.EVENT_READ, CONTROL)
        self.bell.register(self._brood.control, select.POLLIN)
        for number in range(self._count):
            self._listen_to(number)

    def _listen_to(self, number: int) -> None:
        self.selector.register(self._brood.lines[number].ours, selectors.EVENT_READ, number)

    def take(self, batch: Iterable[tuple[int, Unit]]) -> None:
        """Accept new units."""
        self.dealer.take(batch)
        self.deal()

    def deal(self) -> None:
        """Send children the units that the dealer assigns them."""
        if self._is_lost:
            return
        while (rich := self.dealer.rich()) is not None:
            self.dealer.recall(rich, self._brood.unread(rich))
            if not self.dealer.waiting:  # the child runs its last unit already
                return
            self._send()
        self._send()

    def _send(self) -> None:
        for number, entry in self.dealer.deal():
            try:
                send_order(self._brood.lines[number].ours, entry.ticket, entry.unit)
            except BlockingIOError:
                self.dealer.refuse(number, entry)
            except OSError as error:
                if error.errno not in SHORTAGES:
                    raise
                self.dealer.hold_back(entry)  # too many descriptors are open, or in flight
                return

    def cancel(self, ticket: int) -> None:
        """End a unit, wherever it is; units that were taken back for that are to be dealt again."""
        if (holder := self._holder(ticket)) is not None:
            self._read(holder)  # otherwise a child might be killed for a unit that has ended
        if ticket not in self.dealer:
            return
        self._unwanted.add(ticket)
        if holder is not None:
            self.dealer.recall(holder, self._brood.unread(holder))
        if self.dealer.holder(ticket) is None:
            self.dealer.drop(ticket)
            self._tell(ticket, Kind.CANCELLED, Failure("Cancelled", "cancelled before it began"))
        else:
            self._condemn(ticket, Kind.CANCELLED)

    def _holder(self, ticket: int) -> int | None:
        return self.dealer.holder(ticket) if ticket in self.dealer else None

    def recall(self) -> tuple[int, ...]:
        """Take back and forget units that no child has begun; return their tickets in order."""
        for number in range(0 if self._is_lost else self._count):
            self.dealer.recall(number, self._brood.unread(number))
        return self.dealer.withdraw()

    def _condemn(self, ticket: int, kind: Kind) -> None:
        number = self.dealer.condemn(ticket, kind)
        if number is not None:
            self._brood.kill(number)

    def attend(self, number: int) -> None:
        """Read the messages of a child, or of the nursery."""
        if number != CONTROL:
            self._read(number)
        elif (news := self._brood.news()) is None:
            self._start_over()
        elif news.ended is not None:
            self._end(news.ended, news.status)
        else:
            self._failed_starts = 0
            self.up.set()

    def _read(self, number: int) -> None:
        for got in self._brood.answers(number):
            size = len(got.message) if got.fd is None else INLINE
            self._size += RECENT * (size - self._size)
            answer = read_answer(got)
            if self.dealer.finish(number, answer.ticket, answer.seconds) is not None:
                self._unwanted.discard(answer.ticket)
                self.outbox.append(Outcome(*answer))

    def _end(self, number: int, status: int) -> None:
        """Record that a child has ended, and replace it."""
        self._read(number)
        slot = self._brood.slot(number)
        killed = os.WIFSIGNALED(status) and os.WTERMSIG(status) == signal.SIGKILL
        verdict = self.dealer.end(number, slot, killed)
        if verdict is not None:
            self._blame(verdict, slot, number, ended_by(status))
        self.selector.unregister(self._brood.lines[number].ours)
        if status < 0:
            # the machine has no room for a process, and asking again at once would not help
            time.sleep(PAUSE)
        try:
            self._brood.renew(number)
        except OSError:  # for instance too many open files: then all children start over
            self._brood.end()
            return
        self._listen_to(number)
        self._cancel_again()

    def _cancel_again(self) -> None:
        """Cancel again the units whose child ended before their cancellation.

        Such a unit is in the backlog now.
        """
        for ticket in list(self._unwanted):
            self.cancel(ticket)

    def _start_over(self) -> None:
        """Replace a nursery that is gone with its children; if it never started, do not preload."""
        if not self.up.is_set():
            self._failed_starts += 1
            self._preload = ()
            time.sleep(PAUSE)
        slots = [self._brood.slot(number) for number in range(self._count)]
        for number in range(self._count):
            self._read(number)
        for verdict, number in self.dealer.lose(slots):
            self._blame(verdict, slots[number], number, "the end of its nursery")
        self._drop_brood()
        self._begin_again()

    def _begin_again(self) -> None:
        """Start a brood; if the machine has no room for it, `look_after` tries again."""
        try:
            self._begin()
        except OSError as error:
            log.warning("no child process can be started: %s", error)
            self._failed_starts += 1
            self._is_lost = True
        else:
            self._is_lost = False
        if self._failed_starts >= GIVE_UP:
            for ticket in self.dealer.clear():
                why = Failure("NurseryError", "no child process can be started on this node")
                self._tell(ticket, Kind.CRASHED, why)
        self._cancel_again()

    def _drop_brood(self) -> None:
        self.bell.unregister(self._brood.control)
        for key in list(self.selector.get_map().values()):
            if isinstance(key.data, int):
                self.selector.unregister(key.fileobj)
        self._brood.close()

    def look_after(self) -> None:
        """Kill children that exceed a deadline; take back the units behind one that takes long."""
        if self._is_lost and time.monotonic() - self._born >= PAUSE:
            self._begin_again()
        if not self.up.is_set():
            if not self._is_lost and time.monotonic() - self._born > START_LIMIT:
                self._brood.end()
            return
        now = time.monotonic()
        for number in range(self._count):
            slot = self._brood.slot(number)
            left = self.dealer.left(number, slot, now)
            if left is not None and left <= 0:
                self._condemn(slot.ticket, Kind.HUNG)
            elif self.dealer.is_slow(number, slot, now):
                self.dealer.recall(number, self._brood.unread(number))
                self.dealer.shut(number)

    def relieve(self) -> None:
        """Discard output that would fill the machine."""
        for line in () if self._is_lost else self._brood.lines:
            capture.relieve(line.output)

    def _blame(self, verdict: Verdict, slot: Slot, number: int, how: str) -> None:
        seconds = time.monotonic() - slot.since if slot.phase is Phase.RUNNING else 0.0
        failure = {
            Kind.CANCELLED: Failure("Cancelled", "cancelled while it ran"),
            Kind.HUNG: Failure("Hung", f"not done after {seconds:.3g} s, and killed"),
        }.get(verdict.kind, Failure("Crashed", f"its child process ended while it ran: {how}"))
        output = capture.read(self._brood.lines[number].output)
        self._tell(verdict.entry.ticket, verdict.kind, failure, output, seconds)

    def _tell(
        self, ticket: int, kind: Kind, why: Failure, output: bytes = b"", seconds: float = 0.0
    ) -> None:
        self._unwanted.discard(ticket)
        self.outbox.append(Outcome(ticket, kind, wire.pack_failure(why), output, seconds))

    @property
    def patience(self) -> float | None:
        """Seconds to wait for events until the next check; None if there is nothing to check."""
        if not self.up.is_set():
            return SLOW_TICK
        if not len(self.dealer):
            return None
        return TICK if self.dealer.timed else SLOW_TICK

    @property
    def nap(self) -> float:
        """Seconds to let answers wait, so that more of them are read at once."""
        # seconds until a child has to wait for us to read
        room = self.dealer.mean * ROOM / self._size
        nap = min(self.dealer.slack / 2, room, TICK if self.dealer.timed else LONGEST_NAP)
        return nap if nap > SHORTEST_NAP else 0.0

    def close(self) -> None:
        """End all processes."""
        if not self._is_lost:
            self._drop_brood()
        self.selector.close()


def ended_by(status: int) -> str:
    """Describe the end of a process in words."""
    if not os.WIFSIGNALED(status):
        return f"exit code {os.waitstatus_to_exitcode(status)}"
    number = os.WTERMSIG(status)
    try:
        name = signal.Signals(number).name
    except ValueError:  # real-time signals have no names
        name = f"signal {number}"
    return f"killed by {name}{OUT_OF_MEMORY if number == signal.SIGKILL else ''}"


OUT_OF_MEMORY = ", by somebody else; is the machine out of memory?"
