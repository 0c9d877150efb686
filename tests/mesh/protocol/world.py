"""A mesh without time or network: desks, crews, and messages that a test delivers as it likes.

Every message lies in `mail` until the test delivers, loses or repeats it. Units run until the test
ends them; their function decides how they end, as in real life.
"""

from __future__ import annotations

import itertools
from collections import Counter
from dataclasses import dataclass, field
from math import isfinite

from steelyard.mesh.execution.outcome import Kind
from steelyard.mesh.protocol import crew_events, desk_events
from steelyard.mesh.protocol.crew import Crew
from steelyard.mesh.protocol.desk import Desk
from steelyard.mesh.protocol.lifecycle import State
from steelyard.mesh.protocol.messages import Offer, Order
from steelyard.mesh.protocol.task import Rules, Task

KINDS = {
    "m:value": Kind.VALUE,
    "m:raise": Kind.RAISED,
    "m:crash": Kind.CRASHED,
    "m:unknown": Kind.UNKNOWN,
}
ENDS = {
    "m:value": State.DONE,
    "m:raise": State.RAISED,
    "m:crash": State.QUARANTINED,
    "m:unknown": State.REFUSED,
}


@dataclass
class Message:
    """An event on its way to a desk or a crew."""

    to: str
    about: str  # the sender
    event: desk_events.Event | crew_events.Event


@dataclass
class Client:
    desk: Desk = field(default_factory=Desk)
    submitted: dict[int, str] = field(default_factory=dict)  # number → function
    told: Counter[int] = field(default_factory=Counter)
    ends: dict[int, State] = field(default_factory=dict)
    sees: set[str] = field(default_factory=set)


@dataclass
class Node:
    crew: Crew
    running: dict[int, Order] = field(default_factory=dict)
    sees: set[str] = field(default_factory=set)
    left: bool = False

    def has(self, client: str) -> set[int]:
        """The units of a client that this node has, or whose results it has."""
        customer = self.crew.customers[client]
        told = [result for sent in customer.open.values() for result in sent.pull.results]
        ended = {result.number for result in (*customer.results, *told)}
        return ended | customer.running.keys() | {order.number for order in customer.backlog}


class World:
    def __init__(self, clients: int = 1, seconds: float = 0.001) -> None:
        self.now = 100.0
        self.seconds = seconds  # the time that a unit reports
        self.clients = {f"client{i}": Client() for i in range(clients)}
        self.nodes: dict[str, Node] = {}
        self.mail: list[Message] = []
        self.queries: dict[int, tuple[str, str, int]] = {}  # query → node, client, serial
        self.crashes: Counter[int] = Counter()
        self._born = 0
        self._query = 0

    # Actions of a test.

    def submit(self, client: str, function: str, count: int = 1, **rules: object) -> None:
        one = self.clients[client]
        first = len(one.submitted)
        numbers = range(first, first + count)
        made = Rules(**rules)  # type: ignore[arg-type]
        one.submitted.update(dict.fromkeys(numbers, function))
        tasks = tuple(Task(number, function, b"", made) for number in numbers)
        self.tell_desk(client, desk_events.Submitted(tasks))

    def bear(self, procs: int = 2) -> str:
        """Add a new node that no client has seen yet."""
        self._born += 1
        name = f"node{self._born}"
        self.nodes[name] = Node(Crew(procs))
        return name

    def kill(self, name: str) -> None:
        """Kill a node; its messages are still on their way, and no client knows of its end yet."""
        del self.nodes[name]
        self.mail = [message for message in self.mail if message.to != name]

    def meet(self, client: str, node: str) -> None:
        self.node_appears(client, node)
        self.client_appears(client, node)

    def node_appears(self, client: str, node: str) -> None:
        if node in self.nodes and node not in self.clients[client].sees:
            self.clients[client].sees.add(node)
            offer = Offer(self.nodes[node].crew.procs, frozenset(KINDS))
            self.tell_desk(client, desk_events.NodeAppeared(node, offer))

    def client_appears(self, client: str, node: str) -> None:
        if node in self.nodes and client not in self.nodes[node].sees:
            self.nodes[node].sees.add(client)
            self.tell_crew(node, crew_events.ClientAppeared(client))

    def node_vanishes(self, client: str, node: str) -> None:
        if node in self.clients[client].sees:
            self.clients[client].sees.discard(node)
            self.tell_desk(client, desk_events.NodeGone(node))

    def client_vanishes(self, client: str, node: str) -> None:
        if node in self.nodes and client in self.nodes[node].sees:
            self.nodes[node].sees.discard(client)
            self.tell_crew(node, crew_events.ClientGone(client))

    def deliver(self, index: int = 0) -> None:
        self._tell(self.mail.pop(index))

    def repeat(self, index: int) -> None:
        """Deliver a message now and once more later."""
        self._tell(self.mail[index])

    def lose(self, index: int, *, silently: bool) -> None:
        """Lose a pull or its answer; unless `silently`, its node hears of that."""
        message = self.mail.pop(index)
        event = message.event
        if silently:
            return
        if isinstance(event, desk_events.Pulled):
            node, client, serial = self.queries[event.query]
            self._post(node, client, crew_events.PullFailed(client, serial))
        elif isinstance(event, crew_events.Granted):
            failure = crew_events.PullFailed(event.client, event.serial)
            self._post(message.to, event.client, failure)

    def finish(self, node: str, ticket: int) -> None:
        """Let a child end a unit."""
        order = self.nodes[node].running.pop(ticket)
        kind = KINDS[order.function]
        self.crashes[order.number] += kind is Kind.CRASHED
        self.tell_crew(node, crew_events.Ended(ticket, kind, seconds=self.seconds))

    def wait(self, seconds: float) -> None:
        """Let time pass, and wake the desks and crews that are due."""
        end = self.now + seconds
        while (due := self._next_wakeup()) <= end:
            self.now = max(self.now, due)
            self._tick()
        self.now = end

    def _next_wakeup(self) -> float:
        desks = [one.desk.wakeup for one in self.clients.values()]
        return min(*desks, *(one.crew.wakeup for one in self.nodes.values()), float("inf"))

    def _tick(self) -> None:
        for name, client in self.clients.items():
            if client.desk.wakeup <= self.now:
                self.tell_desk(name, desk_events.Tick())
        for name, node in list(self.nodes.items()):
            if node.crew.wakeup <= self.now:
                self.tell_crew(name, crew_events.Tick())

    # Reactions to events.

    def tell_desk(self, name: str, event: desk_events.Event) -> None:
        client = self.clients[name]
        for command in client.desk.handle(event, self.now):
            match command:
                case desk_events.Reply(query, grant):
                    node, _, serial = self.queries[query]
                    self._post(node, name, crew_events.Granted(name, serial, grant))
                case desk_events.Call(node, units):
                    self._post(node, name, crew_events.Called(name, units))
                case desk_events.Stop(node, numbers):
                    self._post(node, name, crew_events.StopAsked(name, numbers))
                case desk_events.Deliver():
                    client.told[command.number] += 1
                    client.ends[command.number] = command.state
        check_desk(client.desk)

    def tell_crew(self, name: str, event: crew_events.Event) -> None:
        node = self.nodes[name]
        for command in node.crew.handle(event, self.now):
            match command:
                case crew_events.Ask(client, pull):
                    self._query += 1
                    self.queries[self._query] = name, client, pull.serial
                    self._post(client, name, desk_events.Pulled(name, pull, self._query))
                case crew_events.Start(ticket, order):
                    assert ticket not in node.running
                    node.running[ticket] = order
                case crew_events.Stop(ticket):
                    if node.running.pop(ticket, None):  # unless it was recalled before
                        self._post(name, name, crew_events.Ended(ticket, Kind.CANCELLED))
                case crew_events.Recall():
                    self._post(name, name, self._recalled(node))
                case crew_events.Left():
                    node.left = True
        check_crew(node.crew)

    def _recalled(self, node: Node) -> crew_events.Recalled:
        """Recall the units that no child has begun; each child has begun its oldest."""
        ahead = tuple(list(node.running)[node.crew.procs :])
        for ticket in ahead:
            del node.running[ticket]
        return crew_events.Recalled(ahead)

    def _post(self, to: str, about: str, event: desk_events.Event | crew_events.Event) -> None:
        if to in self.nodes or to in self.clients:
            self.mail.append(Message(to, about, event))

    def _tell(self, message: Message) -> None:
        if message.to in self.clients:
            self.tell_desk(message.to, message.event)  # type: ignore[arg-type]
        elif message.to in self.nodes:
            event, known = message.event, self.nodes[message.to].crew.tickets
            if isinstance(event, crew_events.Ended) and event.ticket not in known:
                return  # pools report an end once; only messages are repeated here
            if isinstance(event, crew_events.Recalled) and not known.keys() >= set(event.tickets):
                return
            self.tell_crew(message.to, message.event)  # type: ignore[arg-type]

    # The end of all faults.

    def reunite(self) -> None:
        """Let all clients and nodes see each other."""
        for client in self.clients:
            for node in [*self.clients[client].sees]:
                if node not in self.nodes:
                    self.node_vanishes(client, node)
            for node in self.nodes:
                self.meet(client, node)

    def rest(self, seconds: float) -> None:
        """Let time pass without losses, and without ends of units."""
        for _ in range(round(2 * seconds)):
            self.drain_mail()
            self.wait(0.5)
        self.drain_mail()

    def at_odds(self) -> list[tuple[str, str, set[int]]]:
        """Pairs of client and node that disagree on which units the node has, and those units."""
        pairs = itertools.product(self.clients.items(), self.nodes.items())
        found = [
            (one, other, client.desk.nodes.by_name[other].held.keys() ^ node.has(one))
            for (one, client), (other, node) in pairs
        ]
        return [(client, node, units) for client, node, units in found if units]

    def heal(self, rounds: int = 400) -> None:
        """Let all see each other, lose nothing and end units, until all units have ended."""
        if all(one.crew.leaving for one in self.nodes.values()):
            self.bear()
        self.reunite()
        for _ in range(rounds):
            if self.over:
                return
            self.drain_mail()
            for name in [name for name, node in self.nodes.items() if node.left]:
                self.kill(name)
                for client in self.clients:
                    self.node_vanishes(client, name)
            for name, node in self.nodes.items():
                for ticket in list(node.running):
                    if ticket in node.running:
                        self.finish(name, ticket)
            self.drain_mail()
            wakeup = self._next_wakeup()
            self.wait(max(0.0, wakeup - self.now) if isfinite(wakeup) else 0.0)
        raise AssertionError(f"forgotten: {self.forgotten()}")

    def drain_mail(self, most: int = 5000) -> None:
        for _ in range(most):
            if not self.mail:
                return
            self.deliver()
        raise AssertionError("they never stop talking")

    @property
    def over(self) -> bool:
        return not any(client.desk.entries for client in self.clients.values())

    def forgotten(self) -> dict[str, list[int]]:
        return {name: sorted(one.submitted.keys() - one.told) for name, one in self.clients.items()}


def check_desk(desk: Desk) -> None:
    """Check what must be true of a desk at any time."""
    waiting = {number for line in desk.todo.lines.values() for number in line}
    assert desk.todo.total == len(waiting)
    assert not waiting & desk.inflight.keys()
    assert waiting | desk.inflight.keys() == desk.entries.keys()
    for number, entry in desk.entries.items():
        assert entry.state is (State.TODO if number in waiting else State.INFLIGHT)
        assert bool(entry.copies) is (number in desk.inflight)
        assert all(number in desk.nodes.by_name[node].held for node in entry.copies)
    for node in desk.nodes.by_name.values():
        assert all(node.name in desk.entries[number].copies for number in node.held)


def check_crew(crew: Crew) -> None:
    """Check what must be true of a crew at any time."""
    wanted = sum(ticket.wanted for ticket in crew.tickets.values())
    assert wanted == sum(len(one.running) for one in crew.customers.values())
    for customer in crew.customers.values():
        backlog = [order.number for order in customer.backlog]
        assert len(backlog) == len(set(backlog))
        assert not customer.running.keys() & set(backlog)
