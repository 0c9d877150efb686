"""The contract of a runtime: the only way the agent touches workers.

A runtime keeps no desired state and takes no decision. It starts what it is told to, and can
tell, at any time and from nothing but the machine, which workers of its application run: that
is what lets an agent be killed at any point and find the same workers again.
"""

from __future__ import annotations

from collections.abc import AsyncGenerator, AsyncIterator, Callable
from dataclasses import dataclass, field
from typing import Protocol

from steelyard.core.usage import Allowance, Sample


@dataclass(frozen=True, slots=True)
class Running:
    """A worker that runs, as the runtime sees it."""

    name: str
    host: str
    port: int
    handle: str  # the runtime's own word for it: a pid, the id of a container or a service
    allowance: Allowance = field(default_factory=Allowance)
    node: str = ""  # the machine it runs on, where there are several


@dataclass(frozen=True, slots=True)
class Exit:
    """A worker ended, asked to or not."""

    name: str
    reason: str  # "exit code 1", "killed by SIGKILL", "gone"


Shown = Callable[[str], bool]  # whether a line is to be told


@dataclass(frozen=True, slots=True)
class Line:
    """A line that a worker printed."""

    text: str
    at: float | None = None  # seconds since the epoch; None: nobody knows when it was printed
    gap: bool = False  # in the place of lines that were dropped before they could be read


def gap(at: float) -> Line:
    """Says that lines are missing."""
    return Line("[lines are missing here: they were dropped before they were read]", at, gap=True)


class Runtime(Protocol):
    """Starts, stops, finds and measures the workers of one application."""

    kind: str

    @property
    def notes(self) -> list[str]:
        """What was asked for and cannot be had on this machine, for people to read."""

    async def open(self) -> None:
        """Get ready; raise a SteelyardError that says what is missing."""

    async def ping(self) -> None:
        """Return when the runtime can be asked; raise a SteelyardError that says why it cannot."""

    async def close(self) -> None:
        """Let go of everything but the workers: they go on running."""

    async def start(self, name: str) -> Running:
        """Start one worker; raise StartError when the command cannot even be run."""

    async def stop(self, name: str, grace: float) -> None:
        """Ask the worker to end, insist after `grace` seconds, return when nothing of it is left.

        A name that is not running is already stopped. `grace` 0 insists at once.
        """

    async def running(self) -> list[Running]:
        """Every worker of this application that runs now, started by this agent or an earlier one.

        What is found is watched from then on: its end comes out of `exits`. What has ended is
        not listed, even if its end has not come out yet.
        """

    async def sample(self) -> dict[str, Sample]:
        """Read the counters of all running workers; one that has just gone is left out."""

    def exits(self) -> AsyncIterator[Exit]:
        """Yield each end of a worker, once, as it happens; a stop that was asked for included."""

    async def logs(self, name: str, lines: int) -> str:
        """The last lines the worker printed; works for a worker that has ended, too."""

    def lines(
        self, name: str, last: int | None, shown: Shown, *, follow: bool
    ) -> AsyncGenerator[Line]:
        """Yield the last lines that are to be shown, one by one, or with None all of them.

        With `follow` the lines that the worker prints from then on come, too, until it has ended
        and its last line was told. A caller that takes its time has the runtime wait: no more than
        a block is kept in memory.
        """
