"""A pool for tests, and its outcomes."""

from __future__ import annotations

import queue
from collections.abc import Sequence
from typing import Any

import psutil

from steelyard.mesh.execution import wire
from steelyard.mesh.execution.outcome import Failure, Kind, Outcome
from steelyard.mesh.execution.pool import Pool
from steelyard.mesh.execution.unit import Unit

HERE = "tests.mesh.execution"
PATIENCE = 120.0  # seconds; nothing that works takes so long


class Stage:
    """A pool, and its outcomes."""

    def __init__(self, children: int, preload: tuple[str, ...] = ()) -> None:
        self._told: queue.Queue[Outcome] = queue.Queue()
        self._early: dict[int, Outcome] = {}
        self._next = 0
        self.pool = Pool(children, self._tell, preload=preload)

    def _tell(self, outcomes: Sequence[Outcome]) -> None:
        for one in outcomes:
            self._told.put(one)

    def unit(self, name: str, *args: Any, **limits: Any) -> tuple[int, Unit]:
        self._next += 1
        function = name if ":" in name else f"{HERE}.units:{name}"
        return self._next, Unit(function, wire.pack_call(*args), **limits)

    def start(self, name: str, *args: Any, **limits: Any) -> int:
        ticket, unit = self.unit(name, *args, **limits)
        self.pool.start(ticket, unit)
        return ticket

    def outcome(self, ticket: int) -> Outcome:
        while ticket not in self._early:
            one = self._told.get(timeout=PATIENCE)
            assert one.ticket not in self._early, "told twice"
            self._early[one.ticket] = one
        return self._early[ticket]

    def run(self, name: str, *args: Any, **limits: Any) -> Outcome:
        return self.outcome(self.start(name, *args, **limits))

    def value(self, name: str, *args: Any, **limits: Any) -> Any:
        got = self.run(name, *args, **limits)
        assert got.kind is Kind.VALUE, why(got)
        return wire.unpack(got.value)

    def quiet(self) -> bool:
        return self._told.empty()


def why(outcome: Outcome) -> Failure:
    return wire.unpack_failure(outcome.value)


def gone(pid: int) -> bool:
    """Whether a process has ended; a zombie has."""
    try:
        return psutil.Process(pid).status() == psutil.STATUS_ZOMBIE
    except psutil.NoSuchProcess:
        return True
