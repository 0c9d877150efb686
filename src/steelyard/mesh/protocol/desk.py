"""The desk: a client's side of the mesh. `handle(event, now)` returns the commands to execute.

Theory of operation. A node's pull says everything about that node: what it brings, what it has,
what it wants. So no lost message can break the desk's picture: a unit that a node turns out not to
have goes back to the front of the queue. A pull that finds nothing is parked. New work is given to
parked pulls of idle nodes, one unit for each idle child; busy nodes are told that there will be
work when they are free. When the queue is empty, overdue units are given to another node as well.
The first result of a unit ends it; later ones find no entry.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence
from math import ceil, inf

from steelyard.mesh.execution.outcome import Kind
from steelyard.mesh.protocol import desk_events as events
from steelyard.mesh.protocol.avoidance import Avoidance
from steelyard.mesh.protocol.desk_events import Call, Command, Deliver, Reply, Stop
from steelyard.mesh.protocol.expiry import Expiry
from steelyard.mesh.protocol.hedging import Hedging
from steelyard.mesh.protocol.lifecycle import Signal, State, transition
from steelyard.mesh.protocol.machine import Machine
from steelyard.mesh.protocol.messages import Grant, Offer, Order, Pull, Result
from steelyard.mesh.protocol.nodes import Node, Nodes
from steelyard.mesh.protocol.parking import Parked, Parking
from steelyard.mesh.protocol.task import Copy, Entry, Task
from steelyard.mesh.protocol.todo import Todo
from steelyard.mesh.protocol.unserved import Unserved

SOON = 0.001  # seconds; every unit is given at least this much time
LOSSES = 10  # nodes lost with a unit, before it is suspected to be the reason
STRANGERS = 256  # pulls that are kept for nodes that have not appeared yet
BULK = 8 * 1024 * 1024  # bytes of arguments in one grant; units that start at once come on top

HURT = frozenset({Kind.CRASHED, Kind.HUNG, Kind.EXCESS})


class Desk(Machine[events.Event, Command]):
    """The state of a client and of its units."""

    def __init__(self) -> None:
        super().__init__()
        self.entries: dict[int, Entry] = {}  # every unit that has not ended
        self.todo = Todo()
        self.inflight: dict[int, Entry] = {}  # the oldest first
        self.nodes = Nodes()
        self.duplicates = 0  # results of units that had ended before
        self._parking = Parking()
        self._strangers: dict[str, Parked] = {}  # pulls of nodes that have not appeared yet
        self._hedging = Hedging(self.nodes)
        self._next_hedge = inf
        self._expiry = Expiry()
        self._avoidance = Avoidance(self.nodes, self.todo)
        self._unserved = Unserved()
        self._returned: list[Entry] = []  # units that were put back, and that no node has yet
        self._stops: defaultdict[str, list[int]] = defaultdict(list)

    def _take(self, event: events.Event) -> None:
        match event:
            case events.Pulled(name, pull, query):
                self._pulled(name, pull, query)
            case events.Submitted(tasks):
                self._submitted(tasks)
            case events.Dropped(numbers):
                self._finish(numbers, Signal.CANCELLED)
            case events.NodeAppeared(name, offer):
                self._appeared(name, offer)
            case events.NodeGone(name):
                self._gone(name)
            case events.Obstructed(name, why):
                self._unserved.obstacles[name] = why
            case events.Tick():
                pass  # `_settle` does whatever is due

    # Events: what happened.

    def _submitted(self, tasks: Iterable[Task]) -> None:
        for task in tasks:
            entry = self.entries[task.number] = Entry(task)
            self.todo.add(entry)
            if task.until is not None:
                self._expiry.add(task.until, task.number)

    def _finish(self, numbers: Iterable[int], signal: Signal, reason: str = "") -> None:
        for number in numbers:
            entry = self.entries.get(number)
            if entry is not None:
                self._end(entry, signal, reason=reason)

    def _appeared(self, name: str, offer: Offer) -> None:
        self.nodes.enter(name, offer)
        self._unserved.overcome(name)
        self._avoidance.node_came()
        stranger = self._strangers.pop(name, None)
        if stranger is not None:
            self._pulled(name, stranger.pull, stranger.query)

    def _gone(self, name: str) -> None:
        self._unserved.obstacles.pop(name, None)
        self._release(self._strangers.pop(name, None))
        # The node may be alive after all, and wait for an answer.
        self._release(self._parking.leave(name))
        node = self.nodes.leave(name)
        if node is None:
            return
        for number in node.held:
            self.entries[number].losses += 1
        self._lose(node, list(node.held))
        self._avoidance.node_left(self._now)

    def _pulled(self, name: str, pull: Pull, query: int) -> None:
        for result in pull.results:
            self._result(name, result)
        node = self.nodes.by_name.get(name)
        if node is None:
            self._meet(name, Parked(pull._replace(results=()), query))
        # A later pull has overtaken this one, so what it says is old.
        elif pull.serial <= node.latest:
            self._out.append(Reply(query, Grant()))
        else:
            self._serve(node, pull, query)

    def _meet(self, name: str, parked: Parked) -> None:
        """Keep a pull of a node that has not appeared yet, until it does."""
        self._release(self._strangers.pop(name, None))
        self._strangers[name] = parked
        if len(self._strangers) > STRANGERS:  # some of them will never appear
            self._release(self._strangers.pop(next(iter(self._strangers))))

    def _serve(self, node: Node, pull: Pull, query: int) -> None:
        self._release(self._parking.leave(node.name))  # the new pull replaces it
        node.latest, node.called = pull.serial, False
        stop = self._reconcile(node, pull)
        orders = self._grant(node, pull)
        more = self._available(node) > 0
        if orders or more or stop or not pull.park:
            self._out.append(Reply(query, Grant(orders, more, stop)))
        else:
            self._parking.park(node.name, pull, query)

    # Units that a node has.

    def _reconcile(self, node: Node, pull: Pull) -> tuple[int, ...]:
        """Believe what the node says it has; return the units that it should not have."""
        holding = set(pull.holding)
        gone = [n for n, serial in node.held.items() if serial <= pull.seen and n not in holding]
        if gone:
            self._lose(node, gone)
        found = [number for number in pull.holding if number not in node.held]
        unwanted = tuple(number for number in found if number not in self.entries)
        for number in found:
            if number not in unwanted:
                self._hand(node, self.entries[number], Signal.FOUND, pull.serial)
        return unwanted

    def _lose(self, node: Node, numbers: Iterable[int]) -> None:
        entries = [self.entries[number] for number in numbers]
        for entry in entries:
            del node.held[entry.task.number], entry.copies[node.name]
            if entry.losses >= LOSSES:
                reason = f"{LOSSES} nodes were lost while they had it"
                self._end(entry, Signal.SPENT, reason=reason)
        self._requeue(entries)

    def _requeue(self, entries: Iterable[Entry]) -> None:
        """Requeue in-flight units that no node holds."""
        lost = [one for one in entries if one.state is State.INFLIGHT and not one.copies]
        for entry in lost:
            entry.state = transition(entry.state, Signal.LOST)
            del self.inflight[entry.task.number]
        self.todo.put_back(lost)
        self._returned += lost

    def _hand(self, node: Node, entry: Entry, signal: Signal, serial: int) -> None:
        """Note that this node has a copy of the unit."""
        number = entry.task.number
        if entry.state is State.TODO and signal is Signal.FOUND:
            self.todo.drop(entry)
        entry.state = transition(entry.state, signal)
        entry.copies[node.name] = Copy(serial, self._now)
        node.held[number] = serial
        self.inflight.setdefault(number, entry)

    # Results that a node brings.

    def _result(self, name: str, result: Result) -> None:
        entry = self.entries.get(result.number)
        if entry is None:
            self.duplicates += 1
            return
        copy = entry.copies.pop(name, None)
        if copy is not None:
            del self.nodes.by_name[name].held[result.number]
        if result.kind is Kind.VALUE:
            self._hedging.add(entry.task.function, result.seconds, name)
            self._end(entry, Signal.VALUE, result, name)
        elif result.kind is Kind.RAISED:
            self._end(entry, Signal.RAISED, result, name)
        elif result.kind is Kind.UNKNOWN:
            self._refused(entry, result, name)
        elif result.kind in HURT:
            self._hurt(entry, result, name)
        self._requeue([entry])

    def _refused(self, entry: Entry, result: Result, name: str) -> None:
        self._avoidance.refused(entry, result, name)
        if self._avoidance.is_forlorn(entry):
            self._refuse(entry)

    def _refuse(self, entry: Entry) -> None:
        name, result = list(entry.refusals.items())[-1]
        self._end(entry, Signal.REFUSED, result, name)

    def _hurt(self, entry: Entry, result: Result, name: str) -> None:
        if _ran_out_of_time(entry.task, result):
            self._end(entry, Signal.EXPIRED, result, name)
            return
        entry.blamed.add((name, result.run))  # a set: the same hurt may be reported twice
        self._avoidance.hurt(entry, name, self._now)
        if entry.hurts > entry.task.rules.retries:
            self._end(entry, Signal.SPENT, result, name)

    def _end(
        self,
        entry: Entry,
        signal: Signal,
        result: Result | None = None,
        name: str = "",
        reason: str = "",
    ) -> None:
        number = entry.task.number
        if entry.state is State.TODO:
            self.todo.drop(entry)
        else:
            del self.inflight[number]
        entry.state = transition(entry.state, signal)
        del self.entries[number]
        self._avoidance.ended(number)
        for holder in entry.copies:
            del self.nodes.by_name[holder].held[number]
            self._stops[holder].append(number)
        self._out.append(Deliver(number, entry.state, result, name, entry.hurts, reason))

    # Units that a node gets.

    def _grant(self, node: Node, pull: Pull) -> tuple[Order, ...]:
        """Grant one unit for each idle child, and spare ones while there are many: up to half of
        this node's share, if all units left were dealt out to all children.

        So the last two units for each child in the mesh go to idle children only: a spare unit
        would wait behind another one while some other child has nothing to do.
        """
        most = min(pull.want, self._available(node), max(pull.idle, self._spare(node)))
        taken = self.todo.take(node.name, node.serves, most)
        fitting = _fitting(taken, pull.idle)
        if fitting < len(taken):
            self.todo.put_back(taken[fitting:])
            del taken[fitting:]
        signal = Signal.GRANT
        if not taken and pull.idle:
            taken = self._hedging.overdue(self.inflight.values(), node, self._now)[: pull.idle]
            signal = Signal.HEDGE
        for entry in taken:
            self._hand(node, entry, signal, pull.serial)
        return tuple(self._order(entry.task) for entry in taken)

    def _spare(self, node: Node) -> int:
        """How many units the node may have that it cannot start at once."""
        return self._available(node) * node.offer.procs // (2 * self.nodes.workers)

    def _available(self, node: Node) -> int:
        """How many queued units this node may have."""
        return self.todo.count(node.name, node.serves)

    def _order(self, task: Task) -> Order:
        deadline = task.rules.deadline
        if task.until is not None:
            left = max(SOON, task.until - self._now)
            deadline = left if deadline is None else min(left, deadline)
        return Order(task.number, task.function, task.arguments, deadline, task.rules.memory)

    # Consequences: what follows from the new state.

    def _settle(self) -> None:
        self._finish(self._expiry.due(self._now), Signal.EXPIRED)
        self._refuse_unserved()
        if self._avoidance.next <= self._now:
            for entry in self._avoidance.lose_patience(self._now):
                self._refuse(entry)
        if self.todo.total or self._next_hedge <= self._now:
            self._wake_idle()
        if self.todo.total:
            self._tell_busy()
        if self._returned:
            self._call()
        self._out += [Stop(name, tuple(numbers)) for name, numbers in self._stops.items()]
        self._stops.clear()
        self._set_wakeup()

    def _refuse_unserved(self) -> None:
        for function in self._unserved.overdue(self.todo.lines, self.nodes, self._now):
            reason = self._unserved.reason(function, self.nodes)
            self._finish(list(self.todo.lines[function]), Signal.REFUSED, reason)

    def _wake_idle(self) -> None:
        is_overdue = self._next_hedge <= self._now
        for name, parked in list(self._parking.idle.items()):
            node = self.nodes.by_name[name]
            if not is_overdue and not self._available(node):
                continue
            orders = self._grant(node, parked.pull)
            if orders:
                del self._parking.idle[name]
                self._out.append(Reply(parked.query, Grant(orders, self._available(node) > 0)))

    def _tell_busy(self) -> None:
        for name, parked in list(self._parking.busy.items()):
            if self._available(self.nodes.by_name[name]):
                del self._parking.busy[name]
                self._release(parked, more=True)

    def _call(self) -> None:
        """Tell busy nodes to pull for units that were put back. Each call is for a quarter of the
        node's share of them. By itself a node would pull only when it has done half of what it
        holds.
        """
        self._returned = [entry for entry in self._returned if entry.state is State.TODO]
        waiting = len(self._returned)
        each = ceil(waiting / (4 * max(1, self.nodes.workers)))
        for node in sorted(self.nodes.by_name.values(), key=lambda node: node.fill):
            if waiting > 0 and not node.called and self._spare(node):
                node.called = True
                self._out.append(Call(node.name, each * node.offer.procs))
                waiting -= each * node.offer.procs

    def _release(self, parked: Parked | None, *, more: bool = False) -> None:
        if parked is not None:
            self._out.append(Reply(parked.query, Grant(more=more)))

    def _set_wakeup(self) -> None:
        idle = [self.nodes.by_name[name] for name in self._parking.idle]
        self._next_hedge = self._hedging.next(self.inflight.values(), idle) if idle else inf
        expiry, unserved = self._expiry.next(self.entries), self._unserved.next
        self.wakeup = min(expiry, unserved, self._avoidance.next, self._next_hedge)


def _ran_out_of_time(task: Task, result: Result) -> bool:
    """Whether the unit was killed because its job's time was over, not by its own deadline."""
    deadline = task.rules.deadline
    is_own = deadline is not None and deadline <= result.seconds
    return result.kind is Kind.HUNG and task.until is not None and not is_own


def _fitting(entries: Sequence[Entry], idle: int) -> int:
    """How many of these units go into one grant: arguments of later units must not fill the node's
    memory.
    """
    size = 0
    for count, entry in enumerate(entries):
        size += len(entry.task.arguments)
        if size > BULK and count >= idle:
            return count
    return len(entries)
