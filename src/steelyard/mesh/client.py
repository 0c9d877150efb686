"""A client: drives a desk with a link, and gives the application its answers.

with mesh.Client(join=["tcp/127.0.0.1:7447"]) as client:
    for answer in client.map(render, tiles).as_completed():
        print(answer.key, answer.value)
"""

from __future__ import annotations

import atexit
import itertools
import logging
import os
import socket
import threading
import time
import weakref
from collections.abc import Callable, Iterable, Sequence, Sized
from concurrent.futures import Future
from math import inf
from pathlib import Path
from types import TracebackType
from typing import Any, NamedTuple, Self

from steelyard.errors import SteelyardError, UsageError
from steelyard.mesh import codec
from steelyard.mesh.execution.wire import pack_call
from steelyard.mesh.feed import Feed
from steelyard.mesh.function import checked, name_of, rules_of, seconds
from steelyard.mesh.future import UnitFuture
from steelyard.mesh.job import Job
from steelyard.mesh.join import Place, open_link
from steelyard.mesh.journal import Journal
from steelyard.mesh.loop import Loop
from steelyard.mesh.protocol import desk_events as events
from steelyard.mesh.protocol.desk import Desk
from steelyard.mesh.protocol.task import Rules, Task
from steelyard.mesh.sinks import Lot, Receiver, Sink, Sinks
from steelyard.mesh.transport.base import Link, Peer, Query

log = logging.getLogger(__name__)

LEAVING = 5.0  # seconds that a program waits at its exit for a callback that is told of a unit


class Kind(NamedTuple):
    """What the units of one job have in common."""

    function: str
    rules: Rules
    until: float | None

    def task(self, number: int, arguments: bytes) -> Task:
        """Make a unit of this kind."""
        return Task(number, self.function, arguments, self.rules, self.until)


class Client:
    """Has units, and gives them to the nodes that pull."""

    def __init__(
        self,
        join: Sequence[str] = (),
        *,
        weight: float = 1.0,
        journal: str | Path | None = None,
        name: str = "",
        place: Place | None = None,
        link: Link | None = None,
    ) -> None:
        name = name or f"{socket.gethostname()}:{os.getpid()}"
        self._card = codec.Card(name, _share(weight))
        card = codec.announcement(self._card)
        listed = isinstance(join, Iterable) and not isinstance(join, str)
        if not listed or not all(isinstance(one, str) for one in join):
            raise UsageError("join is a list of endpoints", hint='join=["tcp/HOST:PORT"]')
        place = place or Place(join)
        if link is None and not place.can_meet:
            raise UsageError(
                "a client that joins no endpoint never meets a node",
                hint='join=["tcp/HOST:PORT"], the address of any node',
            )
        self._sinks = Sinks(None if journal is None else Journal(Path(journal)))
        self._desk = Desk()
        self._loop: Loop[events.Event] = Loop("steelyard-client", self._handle)
        try:
            self._link = link or open_link(place, self._is_hopeless)
        except BaseException:
            self._sinks.close()
            raise
        self._query_numbers = itertools.count(1)
        self._queries: dict[int, Query] = {}
        self._workers = threading.Condition()
        self._jobs: weakref.WeakSet[Job] = weakref.WeakSet()
        # Held while units are submitted, so that none is submitted after `close`.
        self._sending = threading.RLock()
        self._closed = False
        self._pid = os.getpid()
        self.pulls = 0  # how many pulls the nodes have sent
        self._loop.start()
        self._link.serve(self._asked)
        self._link.watch(self._appeared, self._gone)
        self._link.announce(codec.CLIENT, card)
        _open.add(self)

    # What the application calls.

    def map(
        self,
        function: Callable[..., Any] | str,
        *arguments: Iterable[Any],
        keys: Iterable[Any] | None = None,
        within: float | None = None,
    ) -> Job:
        """Run a unit for each item, or for each tuple of items of several iterables.

        `keys` name the answers; by default the items do. `within` is how many seconds the whole job
        may take: units that are not done by then end as EXPIRED. Items are taken as they are
        needed, some thousands ahead; items of a generator are taken in a thread.
        """
        if not arguments:
            raise UsageError(
                "map needs the items of its units", hint="client.map(function, iterable)"
            )
        calls = zip(*arguments, strict=False)
        sizes = [len(one) for one in arguments if isinstance(one, Sized)]
        total = min(sizes) if len(sizes) == len(arguments) else None
        return self._start(function, calls, total, keys, within, rules_of(function))

    def starmap(
        self,
        function: Callable[..., Any] | str,
        arguments: Iterable[Sequence[Any]],
        *,
        keys: Iterable[Any] | None = None,
        within: float | None = None,
        rules: Rules | None = None,
    ) -> Job:
        """Run a unit for each sequence of arguments."""
        total = len(arguments) if isinstance(arguments, Sized) else None
        return self._start(function, arguments, total, keys, within, rules or rules_of(function))

    def _start(
        self,
        function: Callable[..., Any] | str,
        calls: Iterable[Sequence[Any]],
        total: int | None,
        keys: Iterable[Any] | None,
        within: float | None,
        rules: Rules,
    ) -> Job:
        if isinstance(keys, Sized) and total is not None and len(keys) != total:
            raise UsageError(
                f"{len(keys)} keys for {total} units", hint="give one key for each unit"
            )
        if within is not None:
            within = seconds("within", within, least=-inf)
        until = None if within is None else time.monotonic() + within
        kind = Kind(name_of(function), checked(rules), until)
        job = Job(total, lambda: self.workers(function), lambda: self._drop_all(job.deliver))
        with self._sending:
            self._jobs.add(job)
        Feed(job, calls, keys, lambda lot: self._send(kind, lot, job), within).start()
        return job

    def submit(
        self, function: Callable[..., Any] | str, /, *args: Any, **kwargs: Any
    ) -> Future[Any]:
        """Run one unit; the future has its value."""
        future: UnitFuture = UnitFuture(lambda: self._drop(numbers))
        kind = Kind(name_of(function), rules_of(function), None)
        sink = Sink(future.deliver, args[0] if len(args) == 1 else args)
        numbers = self._send(kind, [(pack_call(*args, **kwargs), sink)])
        return future

    def workers(self, function: Callable[..., Any] | str | None = None) -> int:
        """The number of children of all nodes, or of those that serve this function."""
        nodes = self._desk.nodes
        if function is None:
            return nodes.workers
        return sum(node.offer.procs for node in nodes.serving(name_of(function)))

    def wait_for_workers(
        self,
        count: int = 1,
        timeout: float | None = None,
        function: Callable[..., Any] | str | None = None,
    ) -> bool:
        """Wait until there are so many children; False if the time was over before."""
        with self._workers:
            self._workers.wait_for(lambda: self._closed or self.workers(function) >= count, timeout)
            return not self._closed and self.workers(function) >= count

    def close(self) -> None:
        """Leave the mesh; units that have not ended are cancelled."""
        self._close(None)

    def _close(self, patience: float | None) -> None:
        if os.getpid() != self._pid:
            return  # after a fork, everything here belongs to the parent
        with self._sending:
            if self._closed:
                return
            self._closed = True
            jobs = list(self._jobs)
        for job in jobs:
            job.seal(_closed_error())
        with self._workers:
            self._workers.notify_all()
        self._drop(self._sinks.numbers())
        self._loop.close(patience)
        self._link.close()
        self._sinks.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()

    def _send(self, kind: Kind, lot: Lot, job: Job | None = None) -> list[int]:
        """Submit units; return the numbers of those that the journal does not have yet."""
        if os.getpid() != self._pid:
            raise UsageError("this client was made before a fork", hint="make another one after it")
        with self._sending:
            if self._closed:
                raise _closed_error()
            left, done = self._sinks.resume(kind.function, lot)
            if job is not None and not job.admit(len(lot)):
                return []
            tasks = [kind.task(self._sinks.add(sink), arguments) for arguments, sink in left]
            self._loop.put(events.Submitted(tuple(tasks)))
        for sink, answer in done:
            sink.deliver([answer])
        return [task.number for task in tasks]

    def _drop_all(self, deliver: Receiver) -> None:
        """Drop the units whose answers would go to this receiver."""
        with self._sending:  # units that are being submitted now are dropped, too
            self._drop(self._sinks.numbers(deliver))

    def _drop(self, numbers: Iterable[int]) -> None:
        self._loop.put(events.Dropped(tuple(numbers)))

    # Callbacks, in threads of the link.

    def _appeared(self, peer: Peer) -> None:
        if peer.role != codec.NODE:
            return
        try:
            card = codec.meet(peer)
        except SteelyardError as error:
            log.warning("%s", error)
            self._loop.put(events.Obstructed(peer.identity, error.message))
        else:
            self._loop.put(events.NodeAppeared(peer.identity, card.offer))

    def _is_hopeless(self, why: str) -> None:
        self._loop.put(events.Obstructed("", why))

    def _gone(self, peer: Peer) -> None:
        if peer.role == codec.NODE:
            self._loop.put(events.NodeGone(peer.identity))

    def _asked(self, query: Query) -> None:
        try:
            word, rest = codec.read_query(query.payload)
            if word == codec.PULL:
                pull = codec.read_pull(rest)
                number = next(self._query_numbers)
                self._queries[number] = query
                self.pulls = number
                self._loop.put(events.Pulled(query.sender, pull, number))
            elif word == codec.STATUS:
                query.reply(codec.pack(self.status()))
            else:
                query.refuse(f"a client does not know “{word:.20}”")
        except SteelyardError as error:
            query.refuse(error.message)

    # Events and commands, in the thread of the loop.

    def _handle(self, happened: Sequence[events.Event], now: float) -> float:
        commands = self._desk.handle_all(happened, now)
        try:
            for command in commands:
                self._obey(command)
        finally:
            if delivered := [one for one in commands if isinstance(one, events.Deliver)]:
                self._sinks.deliver(delivered)
        if any(isinstance(one, events.NodeAppeared | events.NodeGone) for one in happened):
            with self._workers:
                self._workers.notify_all()
        return self._desk.wakeup

    def _obey(self, command: events.Command) -> None:
        match command:
            case events.Reply(query, grant):
                self._queries.pop(query).reply(codec.pack(grant))
            case events.Call(node, units):
                self._link.ask(node, codec.pack((codec.CALL, units)), _heard, _unheard)
            case events.Stop(node, numbers):
                self._link.ask(node, codec.pack((codec.STOP, numbers)), _heard, _unheard)

    def status(self) -> dict[str, object]:
        """The numbers that `steelyard mesh status` shows."""
        return {
            "name": self._card.name,
            "weight": self._card.weight,
            "release": self._card.release,
            "todo": self._desk.todo.total,
            "inflight": len(self._desk.inflight),
            "done": self._sinks.delivered,
            "duplicates": self._desk.duplicates,
            "workers": self.workers(),
            "links": len(self._link.peers()),
        }


_open: weakref.WeakSet[Client] = weakref.WeakSet()


@atexit.register
def _close_all() -> None:
    """Close all clients: a thread that returns from Zenoh after Python's end would abort the
    process.
    """
    for client in list(_open):
        client._close(LEAVING)


def _closed_error() -> UsageError:
    return UsageError("this client is closed", hint="make another one")


def _share(weight: Any) -> float:
    try:
        share = float(weight)
    except (TypeError, ValueError, OverflowError):
        share = 0.0
    if not 0 < share < inf:
        raise UsageError(f"{weight} is not a weight", hint="give a number above 0; 1 is usual")
    return share


def _heard(_: bytes) -> None:
    """Ignore the empty answer of a node that was told something."""


def _unheard(why: str) -> None:
    log.debug("a node was not told: %s", why)  # the node's next pull makes up for it
