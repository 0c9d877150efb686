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

LEAVING = 5.0  # seconds that a program which ends waits for who is told of a unit


class Kind(NamedTuple):
    """What units of one job share."""

    function: str
    rules: Rules
    until: float | None

    def task(self, number: int, arguments: bytes) -> Task:
        """One of them."""
        return Task(number, self.function, arguments, self.rules, self.until)


class Client:
    """Has units, and gives them to whoever pulls."""

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
                "a client that joins nobody never meets a node",
                hint='join=["tcp/HOST:PORT"], where any of them listens',
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
        self._sending = threading.RLock()  # what is sent is sent before it is closed
        self._closed = False
        self._pid = os.getpid()
        self.pulls = 0  # how many nodes have sent
        self._loop.start()
        self._link.serve(self._asked)
        self._link.watch(self._appeared, self._gone)
        self._link.announce(codec.CLIENT, card)
        _open.add(self)

    # What the application does.

    def map(
        self,
        function: Callable[..., Any] | str,
        *arguments: Iterable[Any],
        keys: Iterable[Any] | None = None,
        within: float | None = None,
    ) -> Job:
        """A unit for each item, or for each tuple of items of several iterables.

        `keys` are what answers are known by; by default the items. `within` is how many seconds
        all of it may take: units that are not done by then end as EXPIRED. Items are taken as
        they are needed, some thousands ahead; those of a generator in a thread.
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
        """The same for calls whose arguments are there already, as a sequence each."""
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
            raise UsageError(f"{len(keys)} keys for {total} units", hint="one for each")
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
        """One unit, as a future of its value."""
        future: UnitFuture = UnitFuture(lambda: self._drop(numbers))
        kind = Kind(name_of(function), rules_of(function), None)
        sink = Sink(future.deliver, args[0] if len(args) == 1 else args)
        numbers = self._send(kind, [(pack_call(*args, **kwargs), sink)])
        return future

    def workers(self, function: Callable[..., Any] | str | None = None) -> int:
        """Children of all nodes that are there, or of those that serve a function."""
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
        """Until so many are there; False when the time was over before."""
        with self._workers:
            self._workers.wait_for(lambda: self._closed or self.workers(function) >= count, timeout)
            return not self._closed and self.workers(function) >= count

    def close(self) -> None:
        """Leave the mesh; units that have not ended are cancelled."""
        self._close(None)

    def _close(self, patience: float | None) -> None:
        if os.getpid() != self._pid:
            return  # in a fork: everything here is its parent's
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
        """The numbers of these units, but for those that an earlier life has done."""
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
        """Those units whose answers would go there."""
        with self._sending:  # what is being submitted is dropped after that
            self._drop(self._sinks.numbers(deliver))

    def _drop(self, numbers: Iterable[int]) -> None:
        self._loop.put(events.Dropped(tuple(numbers)))

    # What happens, in threads of the link.

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

    # What is done about it, in the thread of the loop.

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
        """What people may want to know."""
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
    """A thread that comes out of Zenoh when Python has ended would abort the process."""
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
        raise UsageError(f"a weight of {weight} is no share", hint="above 0; 1 is usual")
    return share


def _heard(_: bytes) -> None:
    """A node that was told something did hear it."""


def _unheard(why: str) -> None:
    log.debug("a node was not told: %s", why)  # its next pull will make up for it
