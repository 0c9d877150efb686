"""A job on the mesh, in virtual time: the shipped desk and crews, with simulated children.

No part of the protocol is written anew here. Only messages and their delays, deaths of nodes and
when they are noticed, and the work of the children are simulated.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from math import inf
from typing import Any, Generic, TypeVar

from steelyard.lab.children import Children
from steelyard.lab.job import Job, Outcome
from steelyard.lab.push import Network
from steelyard.lab.timeline import Timeline
from steelyard.mesh.protocol import crew_events, desk_events
from steelyard.mesh.protocol.crew import Crew
from steelyard.mesh.protocol.desk import Desk
from steelyard.mesh.protocol.machine import Machine
from steelyard.mesh.protocol.messages import Offer, Pull
from steelyard.mesh.protocol.task import Rules, Task

CLIENT, FUNCTION = "client", "lab:unit"

Event = TypeVar("Event")
Command = TypeVar("Command")


class Driver(Generic[Event, Command]):
    """Passes events to a desk or a crew, executes its commands, and wakes it on time."""

    def __init__(
        self,
        timeline: Timeline,
        machine: Machine[Event, Command],
        tick: Event,
        do: Callable[[Command], None],
    ) -> None:
        self._timeline, self._machine, self._tick, self._do = timeline, machine, tick, do
        self._planned = inf
        self._over = False

    def tell(self, event: Event) -> None:
        """Pass on one event."""
        self.tell_all([event])

    def tell_all(self, events: Sequence[Event]) -> None:
        """Pass on events that happened together."""
        if self._over:
            return
        for command in self._machine.handle_all(events, self._timeline.now):
            self._do(command)
        due = self._machine.wakeup
        if due != self._planned:
            self._planned = due
            if due < inf:
                self._timeline.at(max(due, self._timeline.now), self._is_due, due)

    def stop(self) -> None:
        """Pass nothing on any more."""
        self._over = True

    def _is_due(self, due: float) -> None:
        if due == self._planned:
            self._planned = inf
            self.tell(self._tick)


class Member:
    """A node: a crew and its children."""

    def __init__(self, mesh: Mesh, number: int, speed: float) -> None:
        self.name = f"node-{number}"
        self._mesh = mesh
        self.crew = Driver(mesh.timeline, Crew(1), crew_events.Tick(), self._do)
        self.children = Children(1, speed, mesh.timeline, self.crew.tell_all)

    def stop(self) -> None:
        """Stop, by death or because the job is over."""
        self.crew.stop()
        self.children.stop()

    def _do(self, command: crew_events.Command) -> None:
        match command:
            case crew_events.Ask(_, pull):
                self._mesh.ask(self, pull)
            case crew_events.Start(ticket, order):
                self.children.start(ticket, self._mesh.works[order.number])
            case crew_events.Stop(ticket):
                self.children.cancel(ticket)
            case crew_events.Recall():
                event = crew_events.Recalled(self.children.recall())
                self._mesh.timeline.at(self._mesh.timeline.now, self.crew.tell, event)


class Mesh:
    """One job, from its first unit to its last."""

    def __init__(self, job: Job, network: Network) -> None:
        self.timeline, self.works = Timeline(), job.works
        self._job, self._network = job, network
        self._told = Outcome()
        # Open queries: the node, and the serial of its pull.
        self._queries: dict[int, tuple[Member, int]] = {}
        self._asked = 0
        self._desk = Driver(self.timeline, Desk(), desk_events.Tick(), self._do)
        self._members = {
            f"node-{number}": Member(self, number, speed) for number, speed in enumerate(job.speeds)
        }
        for number, time in job.deaths.items():
            self.timeline.at(time, self._die, self._members[f"node-{number}"])

    def run(self) -> Outcome:
        """Run until the last result is with the client."""
        for member in self._members.values():
            self._desk.tell(desk_events.NodeAppeared(member.name, Offer(1, frozenset({FUNCTION}))))
            member.crew.tell(crew_events.ClientAppeared(CLIENT))
        tasks = (Task(number, FUNCTION, b"", Rules()) for number in range(len(self.works)))
        self._desk.tell(desk_events.Submitted(tuple(tasks)))
        self.timeline.run()
        told = self._told
        worked = sum(member.children.worked for member in self._members.values())
        told.lost = worked - self._job.total
        told.used = worked / self._job.capacity(told.makespan)
        return told

    def ask(self, member: Member, pull: Pull) -> None:
        """Send a node's pull to the desk."""
        self._asked += 1
        self._queries[self._asked] = member, pull.serial
        self._send(self._desk.tell, desk_events.Pulled(member.name, pull, self._asked))

    def _do(self, command: desk_events.Command) -> None:
        match command:
            case desk_events.Reply(query, grant):
                member, serial = self._queries.pop(query)
                self._send(member.crew.tell, crew_events.Granted(CLIENT, serial, grant))
            case desk_events.Call(name, units):
                self._send(self._members[name].crew.tell, crew_events.Called(CLIENT, units))
            case desk_events.Stop(name, numbers):
                self._send(self._members[name].crew.tell, crew_events.StopAsked(CLIENT, numbers))
            case desk_events.Deliver():
                self._deliver()

    def _deliver(self) -> None:
        self._told.delivered += 1
        if self._told.delivered == len(self.works):
            self._told.makespan = self.timeline.now
            self._desk.stop()
            for member in self._members.values():
                member.stop()

    def _die(self, member: Member) -> None:
        member.stop()
        notice = self.timeline.now + self._network.notice
        self.timeline.at(notice, self._desk.tell, desk_events.NodeGone(member.name))

    def _send(self, to: Callable[[Any], None], what: object) -> None:
        self._told.messages += 1
        self.timeline.at(self.timeline.now + self._network.hop, to, what)
