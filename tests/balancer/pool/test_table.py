"""Tests of how a queue becomes a table."""

from __future__ import annotations

import random
import socket
from collections import Counter

import pytest

from steelyard.balancer.pool.counters import Bell
from steelyard.balancer.pool.table import Directory, Place, Table
from steelyard.balancer.pool.worker import Worker
from steelyard.config.settings import Gateway
from steelyard.core.lifecycle import State
from steelyard.core.queue import Entry, Queue
from steelyard.select.gauges import DECAY

NOW = 1000.0


def entry(name: str, state: State = State.LU, weight: float = 1, port: int = 80) -> Entry:
    return Entry(name=name, host=name, port=port, score=50, state=state, weight=weight)


def queue(version: int, *entries: Entry) -> Queue:
    return Queue(application="a", epoch="e", version=version, workers=entries)


def places(*entries: Entry) -> dict[tuple[str, int], Place]:
    return {(e.host, e.port): (socket.AF_INET, (f"10.0.0.{len(e.name)}", e.port)) for e in entries}


def names(workers: frozenset[Worker]) -> set[str]:
    return {worker.name for worker in workers}


def directory() -> Directory:
    return Directory(Bell(), random.Random(0), Gateway())


def test_only_serving_workers_with_weight_are_in_the_ring() -> None:
    """State and weight decide which workers serve; the directory knows all workers of the queue."""
    entries = (
        entry("lu"),
        entry("hu3", State.HU),
        entry("sundown", State.SUNDOWN),
        entry("init", State.INIT),
        entry("zero0", weight=0),
    )
    made = directory()
    table = made.update(queue(4, *entries), places(*entries), NOW)
    assert (table.epoch, table.version) == ("e", 4)
    assert names(table.serving) == {"lu", "hu3"}
    assert names(frozenset(made)) == {e.name for e in entries}
    assert {w.name for w in made if w.tally.leaving} == {"sundown", "init", "zero0"}


def test_a_worker_keeps_its_counts_from_queue_to_queue() -> None:
    """A worker with the same name and address in the next queue is the same worker."""
    made = directory()
    one = entry("a")
    (first,) = made.update(queue(1, one), places(one), NOW).serving
    (second,) = made.update(queue(2, one), places(one), NOW).serving
    assert first is second


def test_unchanged_shares_keep_their_ring() -> None:
    """A queue with the same workers and weights keeps the ring; another weight makes a new one."""
    made = directory()
    one, two = entry("a"), entry("bb")
    first = made.update(queue(1, one, two), places(one, two), NOW)
    second = made.update(queue(2, one, two), places(one, two), NOW)
    assert first.choice is second.choice
    heavy = entry("bb", weight=2)
    assert made.update(queue(3, one, heavy), places(one, heavy), NOW).choice is not first.choice


def test_an_unknown_place_is_left_out() -> None:
    """A worker whose host name is not resolved is left out until the name is resolved."""
    made = directory()
    one = entry("a")
    assert made.update(queue(1, one), {}, NOW).choice is None
    assert made.update(queue(1, one), places(one), NOW).choice is not None


def test_forget() -> None:
    """The directory keeps a worker that the queue omits until `forget` is called."""
    made = directory()
    one = entry("a")
    (worker,) = made.update(queue(1, one), places(one), NOW).serving
    assert made.listed(worker)
    made.update(queue(2), {}, NOW)
    assert not made.listed(worker)
    assert list(made) == [worker]
    made.forget(worker)
    assert list(made) == []


def test_a_new_worker_starts_slowly() -> None:
    """The weight of a new worker rises with time alone, and then the table does not change."""
    made = directory()
    one, two = entry("a"), entry("bb")
    made.update(queue(1, one), places(one), NOW - 60)
    made.tend(NOW - 1)
    assert made.tend(NOW) is None
    first = made.update(queue(2, one, two), places(one, two), NOW)
    assert share(first) == pytest.approx(0.1)
    half = made.tend(NOW + 5)
    assert half is not None
    assert half is made.latest
    assert (half.version, half.serving) == (first.version, first.serving)
    assert share(half) == pytest.approx(0.55)
    whole = made.tend(NOW + 10)
    assert whole is not None
    assert share(whole) == 1
    assert made.tend(NOW + 11) is None


def share(table: Table) -> float:
    """The turns that the new worker gets for each turn of the old worker."""
    given = slots(table)
    return given["bb"] / given["a"]


def slots(table: Table) -> Counter[str]:
    """The turns that each worker gets in one round of the ring."""
    assert table.choice is not None
    return Counter(table.choice.ring.pick().name for _ in range(table.choice.ring.size))


def test_with_everybody_ejected_everybody_is_chosen() -> None:
    """When all workers are ejected, all are in the table; the data thread takes some back."""
    made = directory()
    one = entry("a")
    (worker,) = made.update(queue(1, one), places(one), NOW).serving
    worker.record.until = NOW + 60
    table = made.update(queue(2, one), places(one), NOW)
    assert table.choice is not None
    assert table.choice.pick().worker is worker


def test_costs_fade_while_nobody_measures() -> None:
    """The cost of a slow, idle worker fades, so that the worker is tried again."""
    made = directory()
    one, two = entry("a"), entry("bb")
    made.update(queue(1, one, two), places(one, two), NOW)
    made.tend(NOW)
    a, b = sorted(made, key=lambda worker: worker.name)
    a.tally.cost = a.tally.learned = 1.0
    b.tally.cost = b.tally.learned = 0.1
    a.tally.seen, b.tally.seen = NOW - 1, NOW + 1
    b.tally.requests = 1000
    made.tend(NOW + DECAY)
    assert (round(a.tally.cost, 2), b.tally.cost) == (0.37, 0.1)
    made.tend(NOW + 2 * DECAY)  # no answers have come since, so costs stay
    assert (round(a.tally.cost, 2), b.tally.cost) == (0.37, 0.1)


def test_a_new_worker_is_taken_for_average() -> None:
    """A new worker gets the mean cost, so that it does not look faster before its first answer."""
    made = directory()
    one, two = entry("a"), entry("bb")
    (a,) = made.update(queue(1, one), places(one), NOW).serving
    a.tally.cost = a.tally.learned = 0.25
    made.update(queue(2, one, two), places(one, two), NOW)
    assert {worker.tally.cost for worker in made} == {0.25}
