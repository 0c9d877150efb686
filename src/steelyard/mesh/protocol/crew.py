"""The crew: a node's side of the mesh. `handle(event, now)` returns the commands to execute.

Theory of operation. The children are shared among clients by worker-seconds: whenever a child is
free, or more units are to be fetched, the client that was served least for its weight is next. A
node asks one client after the other, and only when it has room: a unit that it holds cannot be done
by another node. A client without work gets a parked pull, which says whether a child is idle; when
that changes, a new pull replaces the parked one. Short units are fetched in batches of a quarter of
a second of work, and their results are sent with the next pull, or after LINGER. Children are given
some units ahead. When a client comes that has no unit with the children, the units that they have
not begun are taken back and dealt out anew.

No answer is relied upon: a pull that stays open for REFRESH is repeated, and its results are sent
again if it is still open after twice that time.
"""

from __future__ import annotations

from math import inf

from steelyard.mesh.execution.outcome import Kind
from steelyard.mesh.protocol import crew_events as events
from steelyard.mesh.protocol.crew_events import Ask, Command, Left, Recall, Start, Stop
from steelyard.mesh.protocol.customer import MOST, Customer
from steelyard.mesh.protocol.machine import Machine
from steelyard.mesh.protocol.messages import Result
from steelyard.mesh.protocol.standing import Standing, Word
from steelyard.mesh.protocol.stock import SLOW, Stock
from steelyard.mesh.protocol.ticket import Ticket

LINGER = 0.06  # seconds that a result waits for other results, while there is a lot to do
BRIEFLY = 0.005  # seconds that it always waits while all children are busy
LARGE = 65_536  # bytes of results that are sent without waiting
LATELY = 1.0  # seconds after its last unit in which a client is expected to send more
SETTLED = 0.005  # seconds after which a pull counts as parked at its client
REST = 0.1  # seconds before a client is asked again after a failure
REFRESH = 5.0  # seconds after which a pull is repeated

ANSWERS = (Kind.VALUE, Kind.RAISED)  # other outcomes are sent at once, as the unit is tried again
ASKABLE = (Standing.READY, Standing.LAST)
PROMISING = (Standing.READY, Standing.LAST, Standing.ASKED)


class Crew(Machine[events.Event, Command]):
    """The state of a node among its clients."""

    def __init__(self, procs: int) -> None:
        super().__init__()
        self.procs = procs
        self.customers: dict[str, Customer] = {}
        self.tickets: dict[int, Ticket] = {}  # units that the children have
        self._stock = Stock(procs, self.customers, self.tickets)
        self.leaving = False
        self.done = 0
        self._left = False
        self._serial = 0
        self._last_ticket = 0
        self._recalling = False  # we wait to hear which units came back
        self._in_vain = False  # the last recall brought nothing back; reset when a unit ends
        self._heard = self._heard_before = -inf  # when units ended, for the last two times
        self._last: Customer | None = None  # the client whose unit was given to a child last

    def _take(self, event: events.Event) -> None:
        self._stock.changed(self._now)
        match event:
            case events.Ended():
                self._ended(event)
            case events.Recalled(tickets):
                self._take_back(tickets)
            case events.Granted():
                self._granted(event)
            case events.PullFailed(name, serial):
                self._failed(name, serial)
            case events.StopAsked(name, numbers):
                if name in self.customers:
                    self._drop(self.customers[name], numbers)
            case events.Called(name, units):
                self._called(name, units)
            case events.ClientAppeared(name, weight):
                self._appeared(name, weight)
            case events.ClientGone(name):
                self._gone(name)
            case events.LeaveAsked():
                self._leave()
            case events.Tick():
                pass  # `_settle` does whatever is due

    # Events: what happened.

    def _appeared(self, name: str, weight: float) -> None:
        known = self.customers.get(name)
        if known is not None:
            known.weight = weight
        else:
            self.customers[name] = Customer(name, weight, served=self._virtual(), said=self._now)

    def _gone(self, name: str) -> None:
        customer = self.customers.pop(name, None)
        if customer is None:
            return
        self._drop(customer, tuple(customer.running))
        for ticket in self.tickets.values():
            if ticket.client == name:
                ticket.client = ""  # the client is gone; if it comes back, its count starts anew

    def _drop(self, customer: Customer, numbers: tuple[int, ...]) -> None:
        for ticket in customer.drop(numbers):
            self.tickets[ticket].wanted = False
            self._out.append(Stop(ticket))

    def _granted(self, event: events.Granted) -> None:
        customer = self.customers.get(event.client)
        if customer is None or event.serial not in customer.open:
            return  # we gave this pull up; the next one tells the client that we lack its units
        sent = customer.open.pop(event.serial)
        grant, pull = event.grant, sent.pull
        if pull.park and self._now >= sent.at + SETTLED:
            self._catch_up(customer)
        if not self.leaving:
            customer.take(grant.orders)
            customer.level = max(0, self._stock.spare)
        self._drop(customer, grant.stop)
        if event.serial == customer.latest:
            refused = pull.want and not grant.orders
            more = Word.LATER if refused else Word.MORE
            customer.hear(more if grant.more else Word.DRY)
        if self.leaving and grant.orders and customer.standing is not Standing.RESTING:
            self._pull(customer, park=False)  # it tells the client that we do not have them

    def _catch_up(self, customer: Customer) -> None:
        """Let a client that had nothing to do start level with the others: idle time earns no
        credit (start-time fair queueing, Goyal et al. 1996).

        This is only for clients that really had nothing to do. A client between two units keeps its
        credit.
        """
        if not customer.busy:
            customer.served = max(customer.served, self._virtual())

    def _virtual(self) -> float:
        """The virtual time: how much the client whose unit started last was served.

        Of all clients that waited, that one was served least. Units that children have ahead do not
        count yet.
        """
        return 0.0 if self._last is None else self._last.paid

    def _failed(self, name: str, serial: int) -> None:
        customer = self.customers.get(name)
        if customer is None or serial not in customer.open:
            return
        customer.lose(serial)
        if serial == customer.latest:
            customer.hear(Word.FAILED)
            customer.rested = self._now + REST
            self._stock.changed(self._now)

    def _called(self, name: str, units: int) -> None:
        """Pull at once for units that were lost elsewhere: they are older than those we hold and
        must not wait for them. If our units take long we do not: another node may be free sooner.
        """
        customer = self.customers.get(name)
        if customer is None or self.leaving or not customer.spare:
            return
        if customer.standing is not Standing.RESTING:
            self._pull(customer, park=False, least=min(MOST, units))

    def _ended(self, event: events.Ended) -> None:
        ticket = self.tickets.pop(event.ticket)
        self._in_vain = False
        self._hear()
        customer = self.customers.get(ticket.client)
        if customer is None:
            return
        customer.charge(-ticket.charge)
        customer.served += event.seconds / customer.weight
        customer.ended_at = self._now
        if not ticket.wanted:
            return
        self.done += 1
        customer.learn(event.seconds)
        number = ticket.order.number
        del customer.running[number]
        result = Result(number, event.kind, event.value, event.output, event.seconds, event.ticket)
        customer.results.append(result)
        since = self._heard_before if event.kind in ANSWERS else -inf
        customer.results_since = min(customer.results_since, since)

    def _hear(self) -> None:
        """Note when units ended: results of one delivery ended since the delivery before."""
        if self._heard < self._now:
            self._heard_before, self._heard = self._heard, self._now

    def _take_back(self, tickets: tuple[int, ...]) -> None:
        self._recalling, self._in_vain = False, not tickets
        units = [self.tickets.pop(ticket) for ticket in tickets]
        for name, customer in self.customers.items():
            customer.take_back([unit for unit in units if unit.client == name])
        if self.leaving:
            self._give_back()

    def _leave(self) -> None:
        self.leaving = True
        self._recall()
        self._give_back()

    def _give_back(self) -> None:
        for customer in self.customers.values():
            had = bool(customer.backlog)
            customer.backlog.clear()
            if had and customer.standing is not Standing.RESTING:
                self._pull(customer, park=False)

    # Consequences: what follows from the new state.

    def _settle(self) -> None:
        self._stock.changed(self._now)
        self._make_way()
        if not self._recalling:
            self._start()
        for customer in self.customers.values():
            self._refresh(customer)
        if self.leaving:
            self._bring_last_results()
        else:
            self._fetch()
        for customer in self.customers.values():
            self._speak(customer)
        self._set_wakeup()

    def _make_way(self) -> None:
        """Recall units that children have not begun, if another client's unit should go first."""
        if len(self.tickets) <= self.procs or self._recalling or self._in_vain:
            return
        newest = next(reversed(self.tickets.values()))
        tag = self._tag(newest)
        if any(_precedes(one, newest, tag) for one in self.customers.values() if one.backlog):
            self._recall()

    def _tag(self, ticket: Ticket) -> float:
        """How much the client had been served before this unit, as far as is known now. Units that
        were given to children as short ones may have turned out to be long.
        """
        owner = self.customers.get(ticket.client)
        return ticket.tag if owner is None else max(ticket.tag, owner.served - ticket.charge)

    def _recall(self) -> None:
        self._recalling = True
        self._out.append(Recall())

    def _start(self) -> None:
        while (customer := self._next()) is not None:
            order = customer.backlog.popleft()
            self._last_ticket += 1
            charge = (customer.mean or 0.0) / customer.weight
            ticket = Ticket(customer.name, order, customer.served, charge)
            self.tickets[self._last_ticket] = ticket
            customer.running[order.number] = self._last_ticket
            customer.charge(charge)
            self._last = customer
            self._out.append(Start(self._last_ticket, order))

    def _next(self) -> Customer | None:
        """The client whose unit the children get next. Of short units they get some in reserve."""
        waiting = [one for one in self.customers.values() if one.backlog]
        if not waiting:
            return None
        if len(waiting) > 1:
            waiting.sort(key=lambda one: (self._stock.has_enough(one), one.served))
        customer = waiting[0]
        others = (one for one in self.customers.values() if one is not customer)
        shared = any(one.busy or self._now < one.ended_at + LATELY for one in others)
        most = self.procs * (1 + customer.reserve(shared=shared))
        return customer if len(self.tickets) < most else None

    def _refresh(self, customer: Customer) -> None:
        if customer.standing is Standing.RESTING and customer.rested <= self._now:
            customer.hear(Word.RESTED)
            if self.leaving:
                # The client may not know yet which units we gave back.
                self._pull(customer, park=False)
        for serial, sent in list(customer.open.items()):
            if sent.at + 2 * REFRESH <= self._now:
                self._failed(customer.name, serial)
        last = customer.last_pull
        if last is not None and last.at + REFRESH <= self._now:
            self._pull(customer, park=last.pull.park)
        if last is None and self._silence_over(customer) <= self._now:
            self._pull(customer, park=False, sated=True)

    def _silence_over(self, customer: Customer) -> float:
        """When to pull although nothing is wanted. The pull says what we have, and the answer what
        to stop: the last message, in either direction, may have been lost.
        """
        return inf if customer.standing is Standing.RESTING else customer.said + REFRESH

    def _fetch(self) -> None:
        """Ask clients for work, the one that was served least first."""
        askable = [one for one in self.customers.values() if one.standing in ASKABLE]
        for customer in sorted(askable, key=lambda one: one.served):
            idle = self._stock.idle_for(customer)
            if idle or self._stock.is_low(customer):
                self._pull(customer, park=not self._promising(customer), idle=idle)

    def _promising(self, but: Customer) -> bool:
        """Whether another client may have work."""
        others = (one for one in self.customers.values() if one is not but)
        return any(one.standing in PROMISING for one in others)

    def _speak(self, customer: Customer) -> None:
        """Send a pull if the client lacks a parked one, or has results or a correction to hear."""
        if customer.standing is Standing.DRY and not self.leaving:
            self._pull(customer, park=True)
        elif self._results_due(customer) <= self._now or self._flip_due(customer) <= self._now:
            self._pull(customer, park=customer.standing is Standing.PARKED)

    def _results_due(self, customer: Customer) -> float:
        """When the results for this client are to be sent."""
        if not customer.results or customer.standing in (Standing.ASKED, Standing.RESTING):
            return inf
        if not customer.busy or self._stock.idle or _size(customer.results) >= LARGE:
            return self._now
        return customer.results_since + self._linger(customer)

    def _linger(self, customer: Customer) -> float:
        """Seconds that results may wait for others: half the time that the client's units here will
        take.
        """
        units = len(customer.backlog) + len(customer.running)
        left = units * (customer.mean or 0.0) / self.procs
        return min(LINGER, max(BRIEFLY, left / 2))

    def _flip_due(self, customer: Customer) -> float:
        """When to correct what the parked pull says about idle children."""
        last = customer.last_pull
        if customer.standing is not Standing.PARKED or last is None or self.leaving:
            return inf
        return inf if bool(last.pull.idle) is bool(self._stock.idle) else last.at + SETTLED

    def _pull(
        self,
        customer: Customer,
        *,
        park: bool,
        idle: int | None = None,
        least: int = 0,
        sated: bool = False,
    ) -> None:
        sated = sated or self.leaving
        idle = 0 if sated else self._stock.idle if idle is None else idle
        want = 0 if sated else max(idle, least, self._stock.room(customer))
        self._serial += 1
        park = park and not self.leaving
        pull = customer.pull(self._serial, want, idle, park=park, now=self._now)
        self._stock.changed(self._now)
        self._out.append(Ask(customer.name, pull))

    def _bring_last_results(self) -> None:
        """Leave once no client needs this node any more."""
        owed = any(
            one.results or any(sent.pull.results for sent in one.open.values())
            for one in self.customers.values()
        )
        if not owed and not self.tickets and not self._left:
            self._left = True
            self._out.append(Left())

    def _set_wakeup(self) -> None:
        self.wakeup = min((self._due(one) for one in self.customers.values()), default=inf)

    def _due(self, customer: Customer) -> float:
        due = min(self._results_due(customer), self._flip_due(customer))
        if customer.standing is Standing.RESTING:
            due = min(due, customer.rested)
        last = customer.last_pull
        if last is not None:
            slow = customer.standing is Standing.ASKED and self._now < last.at + SLOW
            due = min(due, last.at + (SLOW if slow else REFRESH))
        else:
            due = min(due, self._silence_over(customer))
        oldest = min((sent.at for sent in customer.open.values()), default=inf)
        return min(due, oldest + 2 * REFRESH)


def _precedes(customer: Customer, ticket: Ticket, tag: float) -> bool:
    """Whether the customer has an older unit than this ticket's, or has no unit with the children
    and was served less.
    """
    if customer.name == ticket.client:
        return customer.backlog[0].number < ticket.order.number
    return not customer.running and customer.served < tag


def _size(results: list[Result]) -> int:
    return sum(len(result.value) + len(result.output) for result in results)
