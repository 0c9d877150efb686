"""A job, its outcome, and the stage on which it is run."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from threading import Event, Thread

from steelyard.bench.jobs import diary
from steelyard.bench.jobs.work import DIARY, SPEED

LOOK = 0.02  # seconds between two looks


@dataclass(frozen=True, slots=True)
class Order:
    """A job: seconds at speed 1 by unit, speeds by node, and when nodes are killed."""

    works: Sequence[float]
    speeds: Sequence[float]
    deaths: Mapping[int, float]


@dataclass(frozen=True, slots=True)
class Outcome:
    """The outcome of a job, as in the lab."""

    makespan: float
    delivered: int  # units, each counted once
    lost: float  # work that was done, but not used
    messages: int
    used: float  # share of the work that the nodes could do while they lived


class Stage:
    """The logs of the nodes, and the clock of one job."""

    def __init__(self, order: Order, folder: Path) -> None:
        self.order = order
        self._folder = folder
        self._killers: list[Thread] = []
        self._killed: dict[int, float] = {}  # when each node was really killed
        self._over = Event()

    def environment(self, node: int) -> dict[str, str]:
        """The environment variables of this node."""
        return {SPEED: str(self.order.speeds[node]), DIARY: str(self._diary(node))}

    def begin(self, kill: Callable[[int], None]) -> None:
        """Start the clock, and the threads that kill nodes."""
        self._began = time.monotonic()
        self._killers = [Thread(target=self._kill, args=(node, at, kill))
                         for node, at in self.order.deaths.items()]  # fmt: skip
        for killer in self._killers:
            killer.start()

    def end(self, delivered: Sequence[int], messages: int) -> Outcome:
        """End the job: the last unit is with the client."""
        over = time.monotonic()
        self._over.set()
        for killer in self._killers:
            killer.join()
        makespan, order = over - self._began, self.order
        ends = [min(over, self._killed.get(node, over)) for node in range(len(order.speeds))]
        stays = {node: diary.read(self._diary(node), end) for node, end in enumerate(ends)}
        capacity = sum(speed * (end - self._began)
                       for speed, end in zip(order.speeds, ends, strict=True))  # fmt: skip
        begun = sum(map(len, stays.values()))
        return Outcome(
            makespan=makespan,
            delivered=len(set(delivered)) if len(delivered) == len(set(delivered)) else -1,
            lost=diary.lost(stays, order.speeds),
            # A request and an answer on each side.
            messages=messages or 2 * (begun + len(delivered)),
            used=diary.busy(stays, order.speeds) / capacity,
        )

    def _kill(self, node: int, at: float, kill: Callable[[int], None]) -> None:
        """Kill a node at that time, but not before it had a unit: a node that starts slowly would
        else die unused.
        """
        late = self._over.wait(at)
        while not late and not self._diary(node).exists():
            late = self._over.wait(LOOK)
        if not late:
            kill(node)
            self._killed[node] = time.monotonic()

    def _diary(self, node: int) -> Path:
        return self._folder / f"node-{node}.txt"
