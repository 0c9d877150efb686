"""A crew for tests that play its clients and its children."""

from __future__ import annotations

from steelyard.mesh.execution.outcome import Kind
from steelyard.mesh.protocol.crew import Crew
from steelyard.mesh.protocol.crew_events import (
    Ask,
    ClientAppeared,
    Command,
    Ended,
    Granted,
    Start,
    Tick,
)
from steelyard.mesh.protocol.messages import Grant, Order, Pull


class Play:
    """One crew, and its last pull to each client."""

    def __init__(self, procs: int = 1, clients: str = "c") -> None:
        self.crew = Crew(procs)
        self.now = 0.0
        self.asked: dict[str, Pull] = {}
        self.started: list[tuple[str, int]] = []
        self.last: list[Command] = []
        for name in clients:
            self.do(ClientAppeared(name))

    def do(self, event: object) -> list[Command]:
        commands = self.crew.handle(event, self.now)  # type: ignore[arg-type]
        self.last = commands
        self.asked.update({one.client: one.pull for one in commands if isinstance(one, Ask)})
        for one in commands:
            if isinstance(one, Start):
                self.started.append((self.crew.tickets[one.ticket].client, one.order.number))
        return commands

    def grant(self, client: str, *numbers: int, more: bool = True) -> list[Command]:
        """Answer the last pull to a client."""
        orders = tuple(Order(number, "m:f", b"") for number in numbers)
        return self.do(Granted(client, self.asked[client].serial, Grant(orders, more)))

    def end(
        self, seconds: float = 1.0, kind: Kind = Kind.VALUE, value: bytes = b""
    ) -> list[Command]:
        """Let the oldest unit end, a moment later."""
        self.now += 1e-6
        return self.do(Ended(min(self.crew.tickets), kind, value, seconds=seconds))

    def wait(self) -> list[Command]:
        self.now = self.crew.wakeup
        return self.do(Tick())


def asks(commands: list[Command]) -> list[Pull]:
    return [one.pull for one in commands if isinstance(one, Ask)]


def wanting(commands: list[Command]) -> list[Ask]:
    return [one for one in commands if isinstance(one, Ask) and one.pull.want]


def newcomer(*, served: float = 0.0) -> tuple[Play, list[Command]]:
    """A client submits its first unit to a node whose one child has units of another client
    ahead.
    """
    play = Play(clients="ab")
    play.grant("a", 1)
    play.end(seconds=0.001)
    play.grant("a", *range(2, 300))
    play.crew.customers["b"].served = served
    return play, play.grant("b", 1)
