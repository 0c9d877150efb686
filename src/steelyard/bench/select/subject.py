"""Subject: a process that measures a case whenever it is told to.

It reads a line of JSON and prints one, so that rounds of several subjects can be interleaved. The
objects that a case needs are made once, and kept.
"""

from __future__ import annotations

import random
import sys
import threading
import time
from collections.abc import Callable
from functools import cache, partial
from importlib import import_module
from itertools import repeat
from typing import Any

from pydantic import BaseModel

from steelyard.bench.select.cases import Case, Kind
from steelyard.select import KEYED, POLICIES
from steelyard.select.ring import default_size

KEY = b"client 7"
SEED = 1


class Order(BaseModel):
    """The order to measure a case for about so many seconds."""

    case: Case
    seconds: float


class Sample(BaseModel):
    """The time of one pick or one rebuild."""

    cpu_ns: float
    wall_ns: float


class Connection:
    """A member to pick, with everything that any policy may ask for."""

    __slots__ = ("cost", "inflight", "name")

    def __init__(self, name: str) -> None:
        self.name = name
        self.inflight = 0
        self.cost = 0.0


Loop = Callable[[int], None]


class Subject:
    """Measures cases, and remembers how many repetitions fill the time."""

    def __init__(self) -> None:
        self._counts: dict[Case, int] = {}

    def measure(self, order: Order) -> Sample:
        """Measure one sample, at least half as long as was asked for."""
        loop = _loop(order.case)
        count = self._counts.get(order.case, order.case.threads)
        while True:
            cpu, wall = _time(partial(_spread, loop, order.case.threads), count)
            if cpu >= order.seconds / 2:
                break
            count *= 2
        self._counts[order.case] = count
        idle, _ = _time(_nothing, count) if order.case.kind is Kind.PICK else (0.0, 0.0)
        return Sample(cpu_ns=(cpu - idle) / count * 1e9, wall_ns=wall / count * 1e9)


def _time(loop: Loop, count: int) -> tuple[float, float]:
    wall, cpu = time.perf_counter(), time.process_time()
    loop(count)
    return time.process_time() - cpu, time.perf_counter() - wall


def _spread(loop: Loop, threads: int, count: int) -> None:
    """Run the loop in several threads, which begin together and share the count."""
    if threads == 1:
        return loop(count)
    start = threading.Barrier(threads)

    def work() -> None:
        start.wait()
        loop(count // threads)

    workers = [threading.Thread(target=work) for _ in range(threads)]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join()
    return None


def _loop(case: Case) -> Loop:
    if case.kind is Kind.REBUILD:
        return partial(_rebuilds, case)
    if case.kind is Kind.READ:
        return partial(_reads, _slots(case.members))
    selector = _selector(case.policy, case.members)
    if case.kind is Kind.STRIDE:
        strides: Callable[[Any, int], None]
        strides = import_module("steelyard.bench.select.strides").strides
        return partial(strides, selector)
    return partial(_keyed_picks if case.policy in KEYED else _picks, selector)


def _picks(selector: Any, count: int) -> None:
    for _ in repeat(None, count):
        selector.pick()


def _reads(slots: list[Connection], count: int) -> None:
    size = len(slots)
    for number in range(count):
        slots[number % size]


def _keyed_picks(selector: Any, count: int) -> None:
    for _ in repeat(None, count):
        selector.pick(KEY)


def _nothing(count: int) -> None:
    for _ in repeat(None, count):
        pass


def _rebuilds(case: Case, count: int) -> None:
    make, connections = POLICIES[case.policy], _connections(case.members)
    weights, rng = _weights(case.members), random.Random(SEED)
    for _ in repeat(None, count):
        make(connections, weights, rng)


@cache
def _selector(policy: str, members: int) -> Any:
    """A selector with equal weights, as in the article."""
    make: Any = {**POLICIES, **KEYED}[policy]
    return make(_connections(members), [1.0] * members, random.Random(SEED))


@cache
def _slots(members: int) -> list[Connection]:
    """A plain list with as many slots as a ring, in as random an order, and no code of ours."""
    rng = random.Random(SEED)
    slots = _connections(members) * (default_size(members) // members)
    rng.shuffle(slots)
    return slots


@cache
def _connections(members: int) -> list[Connection]:
    return [Connection(f"c{number}") for number in range(members)]


@cache
def _weights(members: int) -> list[float]:
    """Random weights for a rebuild."""
    rng = random.Random(SEED)
    return [rng.uniform(1.0, 100.0) for _ in range(members)]


def main() -> None:
    """Measure until the input ends."""
    subject = Subject()
    for line in sys.stdin:
        sample = subject.measure(Order.model_validate_json(line))
        sys.stdout.write(sample.model_dump_json() + "\n")
        sys.stdout.flush()


if __name__ == "__main__":
    main()
