"""What a node knows of a client: its units here, and the messages between the two."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from math import ceil, inf

from steelyard.mesh.protocol.messages import Order, Pull, Result
from steelyard.mesh.protocol.standing import Standing, Word, follow
from steelyard.mesh.protocol.ticket import Ticket

HORIZON = 0.25  # seconds of work kept for each child, plus two units; refilled when half is gone
RESERVE = 0.15  # seconds of that work which the child itself has, plus one unit
SHARED = 0.008  # the same, while other clients have work here, too
LONG = 0.08  # seconds; nothing waits behind a longer unit, as another node may be free sooner
MOST = 512  # units kept in advance, at most
LEAST = 0.0002  # seconds that every unit takes on its way through a child, at least
MEMORY = 0.2  # weight of the last unit in the mean


@dataclass(slots=True)
class Open:
    """A pull that has no answer yet."""

    pull: Pull
    at: float


@dataclass(slots=True)
class Customer:
    """A client, as its node sees it."""

    name: str
    weight: float
    standing: Standing = Standing.READY
    served: float = 0.0  # worker-seconds divided by weight; the client with the least is next
    charged: float = 0.0  # the part of `served` that is an estimate, for units with the children
    mean: float | None = None  # seconds a unit takes
    backlog: deque[Order] = field(default_factory=deque)
    running: dict[int, int] = field(default_factory=dict)  # number → ticket
    results: list[Result] = field(default_factory=list)  # results that were not sent yet
    results_since: float = inf  # no result is older than this; −∞: one must not wait
    ended_at: float = -inf  # when its last unit ended
    open: dict[int, Open] = field(default_factory=dict)  # pulls without an answer, by serial
    latest: int = 0  # serial of the last pull
    said: float = inf  # when the last pull was sent
    rested: float = inf  # when the client may be asked again after a failure
    # Spare units after its last grant; more are fetched when half of them are gone.
    level: int = MOST

    @property
    def busy(self) -> bool:
        """Whether the node holds units of this client."""
        return bool(self.backlog or self.running)

    @property
    def paid(self) -> float:
        """How much the client was served, estimates left out."""
        return self.served - self.charged

    def charge(self, amount: float) -> None:
        """Charge the estimated cost of a unit that a child got; a negative amount takes it back."""
        self.served += amount
        self.charged += amount

    @property
    def spare(self) -> int:
        """How many units to keep for each child, besides the one that runs."""
        return 0 if self._is_long else 2 + self._units(HORIZON)

    def reserve(self, *, shared: bool) -> int:
        """How many of the spare units to give to each child."""
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
        """Change the standing by a word of this client's, or by one of ours."""
        self.standing = follow(self.standing, word)

    def take(self, orders: Iterable[Order]) -> None:
        """Take in units that the client granted, but for those that are here already."""
        here = {order.number for order in self.backlog} | self.running.keys()
        self._line_up([order for order in orders if order.number not in here])

    def take_back(self, tickets: Iterable[Ticket]) -> None:
        """Put units that the children had not begun back into the backlog."""
        wanted = []
        for ticket in tickets:
            self.charge(-ticket.charge)
            if ticket.wanted:
                del self.running[ticket.order.number]
                wanted.append(ticket.order)
        self._line_up(wanted)

    def _line_up(self, orders: Sequence[Order]) -> None:
        """Add units to the backlog, the oldest first, as their client has them: units that were
        lost elsewhere are older than the rest.
        """
        late = self.backlog and orders and orders[0].number < self.backlog[-1].number
        self.backlog.extend(orders)
        if late:
            self.backlog = deque(sorted(self.backlog, key=lambda order: order.number))

    def drop(self, numbers: Iterable[int]) -> list[int]:
        """Forget units that the client does not want; return the tickets of those that run."""
        unwanted = set(numbers)
        self.backlog = deque(order for order in self.backlog if order.number not in unwanted)
        return [self.running.pop(number) for number in unwanted.intersection(self.running)]

    def learn(self, seconds: float) -> None:
        """Learn from one more unit how long they take."""
        seconds = max(seconds, LEAST)
        self.mean = seconds if self.mean is None else self.mean + MEMORY * (seconds - self.mean)

    def pull(self, serial: int, want: int, idle: int, *, park: bool, now: float) -> Pull:
        """Make the pull that tells the client everything: results, units held, units wanted."""
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
        """Give up a pull without an answer: its results are sent again."""
        lost = self.open.pop(serial)
        if lost.pull.results:
            self.results[:0] = lost.pull.results
            self.results_since = -inf
