"""Tests of a pool without clients: requests are stubs, and the clock stands still."""

from __future__ import annotations

import random
import socket
from math import inf

from steelyard.balancer.exchange.exchange import Exchange
from steelyard.balancer.io.loop import Loop
from steelyard.balancer.pool.attempts import Attempts
from steelyard.balancer.pool.counters import Bell
from steelyard.balancer.pool.pool import Pool
from steelyard.balancer.pool.requester import Requester
from steelyard.balancer.pool.table import EMPTY, Directory, Table
from steelyard.balancer.pool.worker import Worker
from steelyard.config.settings import Gateway
from steelyard.core.lifecycle import State
from steelyard.core.queue import Entry, Queue

PLACE = ("127.0.0.1", 9)


class Stub(Requester):
    """A request that notes the calls from the pool."""

    def __init__(self, client: bytes = b"a") -> None:
        self.tried = ()
        self.crowded = False
        self.pin = None
        self.client = client
        self.told: list[str] = []

    @property
    def asker(self) -> bytes:
        return self.client

    def on_turn(self) -> None:
        self.told.append("turn")

    def on_wait_over(self) -> None:
        self.told.append("over")


def pool_of(names: str, **settings: object) -> tuple[Pool, dict[str, Worker]]:
    """A pool of workers with these names, at addresses where no program listens."""
    limits = Gateway.model_validate(settings)
    pool = Pool(limits, Loop(1.0), Bell())
    pool.serve(table(names, limits, pool.bell))
    return pool, {worker.name: worker for worker in pool.table.serving}


def table(names: str, limits: Gateway, bell: Bell) -> Table:
    entries = tuple(
        Entry(name=name, host=name, port=1, score=100.0, state=State.LU, weight=1.0)
        for name in names
    )
    queue = Queue(application="a", epoch="e", version=1, workers=entries)
    places = {(name, 1): (socket.AF_INET, PLACE) for name in names}
    return Directory(bell, random.Random(0), limits).update(queue, places, 0.0)


def test_an_exchange_implements_the_contract() -> None:
    """`Exchange` overrides every method of `Requester`."""
    wanted = {name for name in vars(Requester) if name == "asker" or name.startswith(("on_", "fl"))}
    assert wanted | {"left"} <= set(vars(Exchange))
    assert len(wanted) > 9


def test_a_worker_out_of_the_table_gets_no_request() -> None:
    """A worker that the table omits is marked, so that its connections are not kept."""
    pool, workers = pool_of("wx")
    assert workers["w"].serving
    pool.serve(EMPTY)
    assert not workers["w"].serving
    assert pool.table is EMPTY


def test_requests_wait_until_a_worker_has_room() -> None:
    """Waiting requests get their turn when a worker has room, and then the loop has no chore."""
    pool, workers = pool_of("w", worker_concurrency=1)
    workers["w"].tally.enter()
    first, second, other = Stub(), Stub(), Stub(b"b")
    for number, stub in enumerate((first, second, other)):
        assert pool.wait(stub, pool.loop.now + number)
    pool.serve_waiting()
    assert first.told == second.told == other.told == []
    assert pool.waiting_since == pool.loop.now
    workers["w"].tally.leave(False)
    pool.serve_waiting()
    assert first.told == second.told == other.told == ["turn"]
    assert (len(pool.waiting), pool.waiting_since, pool.loop.chore) == (0, inf, None)


def test_requests_that_wait_too_long_are_told() -> None:
    """A request that has waited too long is told so, even when no worker has room."""
    pool, workers = pool_of("w", worker_concurrency=1, waiting_time=5)
    workers["w"].tally.enter()
    late, early = Stub(), Stub(b"b")
    assert pool.wait(late, pool.loop.now - 5.1)
    assert pool.wait(early, pool.loop.now)
    pool.serve_waiting()
    assert (late.told, early.told) == (["over"], [])


def test_a_full_waiting_room_refuses() -> None:
    """A request that waits in excess of the limit is not kept."""
    pool, _ = pool_of("w", waiting=1)
    assert pool.wait(Stub(), 0.0)
    assert not pool.wait(Stub(), 0.0)


def test_a_full_pool_says_so() -> None:
    """A requester that finds no worker is told whether the reason is want of room."""
    pool, workers = pool_of("wx", worker_concurrency=1)
    for worker in workers.values():
        worker.tally.enter()
    stub = Stub()
    assert Attempts(pool).first(stub, careful=False) is None
    assert stub.crowded
    stub = Stub()
    pool.serve(EMPTY)
    assert Attempts(pool).first(stub, careful=False) is None
    assert not stub.crowded
