"""Assigns units to children, and blame when a child ends. Pure: no clock, no process.

Units wait in a backlog. Each child is given 150 ms of work in advance, so that it need not wait for
the pool. When one child is idle and another has units that it has not begun, these are taken back
and dealt out again. Units that no child has begun can also be withdrawn, and are then forgotten.

A child runs its units in order. When it ends, its slot tells whether it had begun a unit, and
which. That unit is to blame, unless we killed the child for another one. All other units of the
child return to the front of the backlog.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from math import ceil
from typing import NamedTuple

from steelyard.mesh.execution.outcome import Kind
from steelyard.mesh.execution.slots import Phase, Slot
from steelyard.mesh.execution.unit import Unit

AHEAD = 0.15  # seconds of work given to a child, besides the running unit and one more
DEEPEST = 128  # units given to a child at most
LONG = 0.1  # seconds; units that take longer are not given in advance
IMPORT_LIMIT = 60.0  # seconds; the import of a unit's module does not count as the unit's time
_RECENT = 0.2  # weight of the newest unit in the mean


@dataclass(slots=True)
class Entry:
    """A unit that has no outcome yet."""

    ticket: int
    unit: Unit
    child: int | None = None  # None: the unit is in the backlog
    losses: int = 0  # times that it was running when all children were lost at once


@dataclass(slots=True)
class Seat:
    """The dealer's record of a child."""

    queue: dict[int, Entry] = field(default_factory=dict)  # keyed by ticket, in order
    shut: bool = False  # until its next answer: its socket is full, or it runs a long unit
    killed_for: tuple[int, Kind] | None = None

    @property
    def open(self) -> bool:
        """Whether the child can be given units."""
        return not self.shut and self.killed_for is None

    def at(self, slot: Slot) -> Entry | None:
        """The unit that the child has begun and not answered, according to its slot."""
        return None if slot.phase is Phase.IDLE else self.queue.get(slot.ticket)


class Verdict(NamedTuple):
    """A unit that is blamed for the end of its child, and the kind of its outcome."""

    entry: Entry
    kind: Kind


class Dealer:
    """Hands units to children."""

    def __init__(self, children: int) -> None:
        self._seats = [Seat() for _ in range(children)]
        self._backlog: deque[Entry] = deque()
        self._entries: dict[int, Entry] = {}
        self.mean = LONG  # seconds per unit
        self._timed = 0  # number of entries with a deadline

    def __len__(self) -> int:
        return len(self._entries)

    def __contains__(self, ticket: int) -> bool:
        return ticket in self._entries

    @property
    def waiting(self) -> bool:
        """Whether there are units in the backlog."""
        return bool(self._backlog)

    @property
    def free(self) -> int:
        """The number of children that would be idle if all units were spread over them."""
        return max(0, len(self._seats) - len(self._entries))

    @property
    def timed(self) -> bool:
        """Whether there are deadlines to watch."""
        return self._timed > 0

    @property
    def slack(self) -> float:
        """Seconds for which no child is likely to run out of work."""
        return self.mean * (min(len(seat.queue) for seat in self._seats) - 1)

    def take(self, batch: Iterable[tuple[int, Unit]]) -> None:
        """Add new units to the backlog."""
        for ticket, unit in batch:
            if ticket in self._entries:
                raise ValueError(f"ticket {ticket} is in use")
            entry = self._entries[ticket] = Entry(ticket, unit)
            self._backlog.append(entry)
            self._timed += unit.deadline is not None

    def deal(self) -> Iterator[tuple[int, Entry]]:
        """Yield units with the children to give them to; each counts as given when yielded."""
        depth = 1 if self.mean > LONG else min(DEEPEST, 2 + ceil(AHEAD / self.mean))
        while self._backlog:
            number = self._emptiest(depth)
            if number is None:
                return
            entry = self._backlog.popleft()
            entry.child = number
            self._seats[number].queue[entry.ticket] = entry
            yield number, entry

    def _emptiest(self, depth: int) -> int | None:
        best, fewest = None, depth
        for number, seat in enumerate(self._seats):
            if len(seat.queue) < fewest and seat.open:
                best, fewest = number, len(seat.queue)
        return best

    def refuse(self, number: int, entry: Entry) -> None:
        """Put a unit back that was just dealt, as the child's socket had no room for it."""
        self._seats[number].shut = True
        self._return([entry])

    def hold_back(self, entry: Entry) -> None:
        """Put a unit back that was just dealt, but could not be sent for lack of descriptors."""
        self._return([entry])

    def finish(self, number: int, ticket: int, seconds: float) -> Entry | None:
        """Record a child's answer; None if the child does not have that unit."""
        entry = self._seats[number].queue.pop(ticket, None)
        if entry is not None:
            self._seats[number].shut = False
            self._forget(entry)
            self.mean += _RECENT * (max(seconds, 1e-5) - self.mean)
        return entry

    def rich(self) -> int | None:
        """A child to take unstarted units from: another child is idle and nothing is queued."""
        if self._backlog or all(seat.queue for seat in self._seats if seat.open):
            return None
        number = max(range(len(self._seats)), key=lambda one: len(self._seats[one].queue))
        return number if len(self._seats[number].queue) > 1 else None

    def recall(self, number: int, tickets: Iterable[int]) -> None:
        """Put back all units that were taken out of a child's socket before it read them."""
        seat = self._seats[number]
        self._return([seat.queue[ticket] for ticket in tickets if ticket in seat.queue])
        seat.shut = False

    def is_slow(self, number: int, slot: Slot, now: float) -> bool:
        """Whether a child runs a long unit: the units behind it are better given to others."""
        return self._seats[number].at(slot) is not None and now - slot.since > LONG

    def shut(self, number: int) -> None:
        """Give a child nothing before its next answer."""
        self._seats[number].shut = True

    def withdraw(self) -> tuple[int, ...]:
        """Forget all units that no child has, and return their tickets.

        Units that were once lost with all children stay: if that happens again, they are to blame.
        """
        fresh = [entry for entry in self._backlog if not entry.losses]
        self._backlog = deque(entry for entry in self._backlog if entry.losses)
        for entry in fresh:
            self._forget(entry)
        return tuple(sorted(entry.ticket for entry in fresh))

    def holder(self, ticket: int) -> int | None:
        """The child that has a unit; None if the unit is in the backlog."""
        return self._entries[ticket].child

    def drop(self, ticket: int) -> Entry:
        """Forget a unit that is in the backlog."""
        entry = self._entries[ticket]
        self._forget(entry)
        self._backlog.remove(entry)
        return entry

    def condemn(self, ticket: int, kind: Kind) -> int | None:
        """The child to kill in order to end a unit; None if it is being killed already."""
        number = self._entries[ticket].child
        if number is None or self._seats[number].killed_for is not None:
            return None
        self._seats[number].killed_for = (ticket, kind)
        return number

    def left(self, number: int, slot: Slot, now: float) -> float | None:
        """Seconds that the unit a child runs has left until its limit; 0 or less if exceeded."""
        entry = self._seats[number].at(slot)
        if entry is None or self._seats[number].killed_for is not None:
            return None
        limit = IMPORT_LIMIT if slot.phase is Phase.IMPORTING else entry.unit.deadline
        return None if limit is None else slot.since + limit - now

    def end(self, number: int, slot: Slot, by_kill: bool) -> Verdict | None:
        """Record the end of a child whose answers have all been read; return the unit to blame.

        Its other units are dealt out again.
        """
        seat = self._seats[number]
        self._seats[number] = Seat()
        running = seat.at(slot)
        if running is not None and seat.killed_for is not None and by_kill:
            kind = seat.killed_for[1] if seat.killed_for[0] == running.ticket else None
        else:
            kind = Kind.CRASHED
        verdict = None
        if running is not None and kind is not None:
            del seat.queue[running.ticket]
            self._forget(running)
            verdict = Verdict(running, kind)
        self._return(seat.queue.values())
        return verdict

    def clear(self) -> list[int]:
        """Forget all units, and return their tickets."""
        tickets = list(self._entries)
        self._seats = [Seat() for _ in self._seats]
        self._backlog.clear()
        self._entries.clear()
        self._timed = 0
        return tickets

    def lose(self, slots: list[Slot]) -> list[tuple[Verdict, int]]:
        """Record the loss of all children at once; a unit that runs in two losses is blamed."""
        verdicts = []
        for number, slot in enumerate(slots):
            running = self._seats[number].queue.get(slot.ticket)
            if running is not None:
                running.losses += 1
                if running.losses > 1:
                    del self._seats[number].queue[running.ticket]
                    self._forget(running)
                    verdicts.append((Verdict(running, Kind.CRASHED), number))
            self._return(self._seats[number].queue.values())
            self._seats[number] = Seat()
        return verdicts

    def _forget(self, entry: Entry) -> None:
        del self._entries[entry.ticket]
        self._timed -= entry.unit.deadline is not None

    def _return(self, entries: Iterable[Entry]) -> None:
        """Return units to the front of the backlog, in the order they had."""
        for entry in reversed(list(entries)):
            if entry.child is not None:
                self._seats[entry.child].queue.pop(entry.ticket, None)
            entry.child = None
            self._backlog.appendleft(entry)
