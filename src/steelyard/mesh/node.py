"""A node: drives a crew with a link and a pool."""

from __future__ import annotations

import logging
import threading
import time
from collections.abc import Callable, Sequence
from functools import partial

from steelyard.errors import SteelyardError
from steelyard.mesh import codec
from steelyard.mesh.execution.outcome import Failure, Kind, Outcome
from steelyard.mesh.execution.pool import Deliver, Executor
from steelyard.mesh.execution.unit import Unit
from steelyard.mesh.execution.wire import pack_failure
from steelyard.mesh.loop import Loop
from steelyard.mesh.protocol import crew_events as events
from steelyard.mesh.protocol.crew import Crew
from steelyard.mesh.protocol.messages import Order
from steelyard.mesh.transport.base import Link, Peer, Query

log = logging.getLogger(__name__)

LARGE = 65_536  # bytes; a larger message may fill a socket
CHILDREN = 60.0  # seconds that children may take to start; after that units fail, and say why

MakePool = Callable[[int, Deliver], Executor]


class Node:
    """Pulls units of some functions and runs them in its children."""

    def __init__(self, link: Link, card: codec.Card, make_pool: MakePool) -> None:
        self.card = card
        self._announcement = codec.announcement(card)
        self._link = link
        self._functions = frozenset(card.functions)
        self._crew = Crew(card.procs)
        self._left = threading.Event()
        self._is_bulky = False  # whether the last results were large
        self._began = time.monotonic()
        self._loop: Loop[events.Event] = Loop("steelyard-node", self._handle)
        self._pool = make_pool(card.procs, self._ended)

    def start(self) -> None:
        """Announce the node to clients, once its children are ready: no unit must wait for their
        start.
        """
        self._pool.wait(CHILDREN)
        self._loop.start()
        self._link.serve(self._asked)
        self._link.watch(self._appeared, self._gone)
        self._link.announce(codec.NODE, self._announcement)

    def leave(self, patience: float) -> bool:
        """Finish the units that run and bring their results; return whether that was done
        in time.
        """
        self._loop.put(events.LeaveAsked())
        return self._left.wait(patience)

    def close(self) -> None:
        """Leave the mesh; other nodes run the units again that still run here."""
        self._link.close()
        self._pool.close()
        self._loop.close()

    # Callbacks, in threads of the link and the pool.

    def _appeared(self, peer: Peer) -> None:
        if peer.role != codec.CLIENT:
            return
        try:
            card = codec.meet(peer)
        except SteelyardError as error:
            log.warning("%s", error)
        else:
            self._loop.put(events.ClientAppeared(peer.identity, card.weight))

    def _gone(self, peer: Peer) -> None:
        if peer.role == codec.CLIENT:
            self._loop.put(events.ClientGone(peer.identity))

    def _asked(self, query: Query) -> None:
        try:
            word, rest = codec.read_query(query.payload)
            if word == codec.STOP:
                self._loop.put(events.StopAsked(query.sender, codec.read_stop(rest)))
                query.reply(b"")
            elif word == codec.CALL:
                self._loop.put(events.Called(query.sender, codec.read_call(rest)))
                query.reply(b"")
            elif word == codec.STATUS:
                query.reply(codec.pack(self.status()))
            else:
                query.refuse(f"a node does not know “{word:.20}”")
        except SteelyardError as error:
            query.refuse(error.message)

    def _granted(self, client: str, serial: int, payload: bytes) -> None:
        """Take in a grant. This runs in the thread in which the link reads.

        A write may wait until the other side has read, and the other side must not wait for us to
        read. So large messages are left to the loop's thread.
        """
        bulky = self._is_bulky or len(payload) > LARGE
        take = self._loop.put if bulky else self._loop.here
        try:
            take(events.Granted(client, serial, codec.read_grant(payload)))
        except SteelyardError as error:
            log.warning("client %s: %s", client, error)
            self._loop.put(events.PullFailed(client, serial))

    def _failed(self, client: str, serial: int, why: str) -> None:
        log.debug("a pull failed: %s", why)
        self._loop.put(events.PullFailed(client, serial))

    def _ended(self, outcomes: Sequence[Outcome]) -> None:
        self._is_bulky = any(len(one.value) > LARGE for one in outcomes)
        self._loop.here(*(_ended(one) for one in outcomes))

    # Events and commands, in the thread of the loop.

    def _handle(self, happened: Sequence[events.Event], now: float) -> float:
        starts: list[tuple[int, Unit]] = []
        for command in self._crew.handle_all(happened, now):
            match command:
                case events.Ask(client, pull):
                    granted = partial(self._granted, client, pull.serial)
                    failed = partial(self._failed, client, pull.serial)
                    self._link.ask(client, codec.pack((codec.PULL, *pull)), granted, failed)
                case events.Start(ticket, order):
                    self._start(ticket, order, starts)
                case events.Stop(ticket):
                    self._pool.cancel(ticket)
                case events.Recall():
                    self._loop.here(events.Recalled(self._pool.recall()))
                case events.Left():
                    self._left.set()
        if starts:
            self._pool.start_all(starts)
        return self._crew.wakeup

    def _start(self, ticket: int, order: Order, starts: list[tuple[int, Unit]]) -> None:
        try:
            self._check(order)
            unit = Unit(order.function, order.arguments, order.deadline, order.memory)
            starts.append((ticket, unit))
        except SteelyardError as error:
            failure = pack_failure(Failure(type(error).__name__, str(error)))
            self._loop.put(events.Ended(ticket, Kind.UNKNOWN, failure))

    def _check(self, order: Order) -> None:
        """Refuse a function that this node was not started for."""
        if order.function not in self._functions:
            raise SteelyardError(
                f"{order.function} is not served by {self.card.name}",
                hint=f"it serves {', '.join(self.card.functions)}",
            )

    def status(self) -> dict[str, object]:
        """The numbers that `steelyard mesh status` shows."""
        customers = list(self._crew.customers.values())
        with_children = len(self._crew.tickets)  # the children may not have begun most of these
        running = min(self.card.procs, with_children)
        return {
            "name": self.card.name,
            "procs": self.card.procs,
            "functions": list(self.card.functions),
            "release": self.card.release,
            "running": running,
            "waiting": with_children - running + sum(len(one.backlog) for one in customers),
            "done": self._crew.done,
            "seconds": time.monotonic() - self._began,
            "clients": len(customers),
            "links": len(self._link.peers()),
            "leaving": self._crew.leaving,
        }


def _ended(one: Outcome) -> events.Ended:
    return events.Ended(one.ticket, one.kind, one.value, one.output, one.seconds)
