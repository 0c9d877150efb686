"""Queue → table."""

from __future__ import annotations

import random
import socket

from steelyard.balancer.counters import Bell
from steelyard.balancer.table import Directory, Place
from steelyard.balancer.worker import Worker
from steelyard.core.lifecycle import State
from steelyard.core.queue import Entry, Queue


def entry(name: str, state: State = State.LU, weight: float = 1, port: int = 80) -> Entry:
    return Entry(name=name, host=name, port=port, score=50, state=state, weight=weight)


def queue(version: int, *entries: Entry) -> Queue:
    return Queue(application="a", epoch="e", version=version, workers=entries)


def places(*entries: Entry) -> dict[tuple[str, int], Place]:
    return {(e.host, e.port): (socket.AF_INET, (f"10.0.0.{len(e.name)}", e.port)) for e in entries}


def names(workers: frozenset[Worker]) -> set[str]:
    return {worker.name for worker in workers}


def directory() -> Directory:
    return Directory(Bell(), random.Random(0))


def test_only_serving_workers_with_weight_are_in_the_ring() -> None:
    """State and weight decide; everyone in the queue is known all the same."""
    entries = (
        entry("lu"),
        entry("hu3", State.HU),
        entry("sundown", State.SUNDOWN),
        entry("init", State.INIT),
        entry("zero0", weight=0),
    )
    made = directory()
    table = made.update(queue(4, *entries), places(*entries))
    assert (table.epoch, table.version) == ("e", 4)
    assert names(table.serving) == {"lu", "hu3"}
    assert names(frozenset(made)) == {e.name for e in entries}
    assert {w.name for w in made if w.tally.leaving} == {"sundown", "init", "zero0"}


def test_a_worker_keeps_its_counts_from_queue_to_queue() -> None:
    """The same name at the same place is the same worker."""
    made = directory()
    one = entry("a")
    (first,) = made.update(queue(1, one), places(one)).serving
    (second,) = made.update(queue(2, one), places(one)).serving
    assert first is second


def test_unchanged_shares_keep_their_ring() -> None:
    """A queue that changes nothing does not begin the walk anew; a weight does."""
    made = directory()
    one, two = entry("a"), entry("bb")
    first = made.update(queue(1, one, two), places(one, two))
    second = made.update(queue(2, one, two), places(one, two))
    assert first.ring is second.ring
    heavy = entry("bb", weight=2)
    assert made.update(queue(3, one, heavy), places(one, heavy)).ring is not first.ring


def test_an_unknown_place_is_left_out() -> None:
    """A worker whose name does not resolve gets nothing until it does."""
    made = directory()
    one = entry("a")
    assert made.update(queue(1, one), {}).ring is None
    assert made.update(queue(1, one), places(one)).ring is not None


def test_forget() -> None:
    """A worker that is gone and done leaves no trace."""
    made = directory()
    one = entry("a")
    (worker,) = made.update(queue(1, one), places(one)).serving
    assert made.listed(worker)
    made.update(queue(2), {})
    assert not made.listed(worker)
    assert list(made) == [worker]
    made.forget(worker)
    assert list(made) == []
