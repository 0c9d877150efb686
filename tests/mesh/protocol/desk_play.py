"""A desk for tests that play its nodes."""

from __future__ import annotations

from collections.abc import Iterable

from steelyard.mesh.execution.outcome import Kind
from steelyard.mesh.protocol.desk import Desk
from steelyard.mesh.protocol.desk_events import (
    Command,
    Deliver,
    NodeAppeared,
    Pulled,
    Reply,
    Submitted,
)
from steelyard.mesh.protocol.lifecycle import State
from steelyard.mesh.protocol.messages import Offer, Pull, Result
from steelyard.mesh.protocol.task import Rules, Task

VALUE = Kind.VALUE


OFFER = Offer(1, frozenset({"m:f"}))


class Play:
    """One desk, and nodes `a`, `b`, … with one child each."""

    def __init__(self, nodes: str = "a") -> None:
        self.desk = Desk()
        self.now = 0.0
        self.query = 0
        self.serials: dict[str, int] = {}
        for name in nodes:
            self.do(NodeAppeared(name, OFFER))

    def do(self, event: object) -> list[Command]:
        return self.desk.handle(event, self.now)  # type: ignore[arg-type]

    def submit(self, *numbers: int, until: float | None = None, **rules: object) -> list[Command]:
        made = Rules(**rules)  # type: ignore[arg-type]
        tasks = (Task(number, "m:f", b"", made, until) for number in numbers)
        return self.do(Submitted(tuple(tasks)))

    def pull(
        self,
        node: str,
        want: int = 1,
        idle: int | None = None,
        *,
        park: bool = True,
        holding: Iterable[int] = (),
        results: Iterable[tuple[int, Kind]] = (),
        seconds: float = 1.0,
        run: int = 0,
        serial: int | None = None,
        seen: int | None = None,
    ) -> list[Command]:
        """Let a node pull; by default all its earlier pulls are closed."""
        if serial is None:
            serial = self.serials[node] = self.serials.get(node, 0) + 1
        self.query += 1
        run = run or self.query
        told = tuple(Result(*one, seconds=seconds, run=run) for one in results)
        pull = Pull(
            serial,
            serial - 1 if seen is None else seen,
            want,
            want if idle is None else idle,
            park,
            tuple(holding),
            told,
        )
        return self.do(Pulled(node, pull, self.query))


def grants(commands: list[Command]) -> dict[int, list[int]]:
    """The unit numbers in each grant, by the query that it answers."""
    replies = [one for one in commands if isinstance(one, Reply)]
    return {one.query: [order.number for order in one.grant.orders] for one in replies}


def ends(commands: list[Command]) -> dict[int, State]:
    return {one.number: one.state for one in commands if isinstance(one, Deliver)}
