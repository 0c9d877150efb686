"""What a node knows of a client: its work here, and what was said between the two."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from math import ceil, inf

from steelyard.mesh.protocol.messages import Order, Pull, Result
from steelyard.mesh.protocol.standing import Standing, Word, follow
from steelyard.mesh.protocol.ticket import Ticket

HORIZON = 0.25  # seconds of work kept for each child, and two units; fetched by halves
RESERVE = 0.15  # seconds of it that are with the child already, and a unit
SHARED = 0.008  # the same while other clients come here, too
LONG = 0.08  # behind a unit that takes longer none waits: another node may be free sooner
MOST = 512  # units kept in advance
LEAST = 0.0002  # seconds a unit takes in any case, on its way through a child
MEMORY = 0.2  # weight of the last unit in the mean


@dataclass(slots=True)
class Open:
    """A pull without an answer."""

    pull: Pull
    at: float


@dataclass(slots=True)
class Customer:
    """One client."""

    name: str
    weight: float
    standing: Standing = Standing.READY
    served: float = 0.0  # worker-seconds by weight: who has least is next
    charged: float = 0.0  # of it, for what is with the children and has not ended: an estimate
    mean: float | None = None  # seconds a unit takes
    backlog: deque[Order] = field(default_factory=deque)
    running: dict[int, int] = field(default_factory=dict)  # number → ticket
    results: list[Result] = field(default_factory=list)  # not sent yet
    results_since: float = inf  # the first of them is not older; −∞: one must not wait
    ended_at: float = -inf  # when the last of its units did
    open: dict[int, Open] = field(default_factory=dict)  # by serial
    latest: int = 0  # serial of the last pull
    said: float = inf  # when it was sent
    rested: float = inf  # when it may be asked again
    level: int = MOST  # spare units after its last grant; more are fetched when half are gone

    @property
    def busy(self) -> bool:
        """Whether anything of it is here to be done."""
        return bool(self.backlog or self.running)

    @property
    def paid(self) -> float:
        """What it was served for certain."""
        return self.served - self.charged

    def charge(self, amount: float) -> None:
        """For a unit that a child has; the same below zero when it has it no more."""
        self.served += amount
        self.charged += amount

    @property
    def spare(self) -> int:
        """How many units to keep for each child, besides those that run."""
        return 0 if self._is_long else 2 + self._units(HORIZON)

    def reserve(self, *, shared: bool) -> int:
        """How many of these to give to it."""
        if self._is_long:
            return 0
        return self._units(SHARED) if shared else 1 + self._units(RESERVE)

    @property
    def _is_long(self) -> bool:
        return self.mean is None or self.mean > LONG

    def _units(self, seconds: float) -> int:
        return ceil(seconds / self.mean) if self.mean else 0

    @property
    def last_pull(self) -> Open | None:
        """The last pull, while it has no answer."""
        return self.open.get(self.latest)

    def hear(self, word: Word) -> None:
        """Its standing changes."""
        self.standing = follow(self.standing, word)

    def take(self, orders: Iterable[Order]) -> None:
        """Units that it gave us; one that we have already is not taken twice."""
        here = {order.number for order in self.backlog} | self.running.keys()
        self._line_up([order for order in orders if order.number not in here])

    def take_back(self, tickets: Iterable[Ticket]) -> None:
        """Units that children had ahead."""
        wanted = []
        for ticket in tickets:
            self.charge(-ticket.charge)
            if ticket.wanted:
                del self.running[ticket.order.number]
                wanted.append(ticket.order)
        self._line_up(wanted)

    def _line_up(self, orders: Sequence[Order]) -> None:
        """The oldest first, as its client has them: what was lost elsewhere is not the last."""
        late = self.backlog and orders and orders[0].number < self.backlog[-1].number
        self.backlog.extend(orders)
        if late:
            self.backlog = deque(sorted(self.backlog, key=lambda order: order.number))

    def drop(self, numbers: Iterable[int]) -> list[int]:
        """Units that it does not want any more; returns the tickets of those that run."""
        unwanted = set(numbers)
        self.backlog = deque(order for order in self.backlog if order.number not in unwanted)
        return [self.running.pop(number) for number in unwanted.intersection(self.running)]

    def learn(self, seconds: float) -> None:
        """One more unit has taken so long."""
        seconds = max(seconds, LEAST)
        self.mean = seconds if self.mean is None else self.mean + MEMORY * (seconds - self.mean)

    def pull(self, serial: int, want: int, idle: int, *, park: bool, now: float) -> Pull:
        """Say everything, in one pull."""
        seen = min(self.open, default=serial) - 1
        holding = (*self.running, *(order.number for order in self.backlog))
        pull = Pull(serial, seen, want, idle, park, holding, tuple(self.results))
        self.open[serial] = Open(pull, now)
        self.latest, self.said = serial, now
        self.results.clear()
        self.results_since = inf
        self.hear(Word.PARK if park else Word.ASK)
        return pull

    def lose(self, serial: int) -> None:
        """No answer will come: results are sent again."""
        lost = self.open.pop(serial)
        if lost.pull.results:
            self.results[:0] = lost.pull.results
            self.results_since = -inf
