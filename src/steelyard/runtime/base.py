"""The contract of a runtime: the only way the agent touches workers.

A runtime keeps no desired state and takes no decision. It starts and stops workers as it is told.
At any time it can find out from the machine alone which workers of its application run. So an agent
can be killed at any point, and the next one finds the same workers.
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
    handle: str  # the runtime's own identifier: a pid, or the id of a container or service
    allowance: Allowance = field(default_factory=Allowance)
    node: str = ""  # the machine that the worker runs on, where there are several


@dataclass(frozen=True, slots=True)
class Exit:
    """The end of a worker, whether the agent asked for it or not."""

    name: str
    reason: str  # "exit code 1", "killed by SIGKILL", "gone"


Shown = Callable[[str], bool]  # whether a log line is wanted


@dataclass(frozen=True, slots=True)
class Line:
    """A line that a worker printed."""

    text: str
    at: float | None = None  # seconds since the epoch; None: the time of printing is not known
    gap: bool = False  # this line stands for lines that were dropped before they could be read


def gap(at: float) -> Line:
    """A line that stands for missing ones."""
    return Line("[lines are missing here: they were dropped before they were read]", at, gap=True)


class Runtime(Protocol):
    """Starts, stops, finds and measures the workers of one application."""

    kind: str

    @property
    def notes(self) -> list[str]:
        """Messages for people about settings that this machine cannot honour."""

    async def open(self) -> None:
        """Prepare the runtime; raise a SteelyardError that names what is missing."""

    async def ping(self) -> None:
        """Return if the runtime answers; raise a SteelyardError that says why it does not."""

    async def close(self) -> None:
        """Release all resources; the workers go on running."""

    async def start(self, name: str) -> Running:
        """Start one worker; raise StartError if its command cannot be run at all."""

    async def stop(self, name: str, grace: float) -> None:
        """Ask the worker to end, and kill it after `grace` seconds.

        Return when nothing of the worker is left. A worker that does not run counts as stopped.
        With `grace` 0 it is killed at once.
        """

    async def running(self) -> list[Running]:
        """Every worker of this application that runs now, started by this agent or an earlier one.

        The runtime watches each listed worker from then on, and reports its end through `exits`. A
        worker that has ended is not listed, even if `exits` has not reported the end yet.
        """

    async def sample(self) -> dict[str, Sample]:
        """Read the counters of all running workers; a worker that has just ended is left out."""

    def exits(self) -> AsyncIterator[Exit]:
        """Yield the end of each worker once, as it happens, whether it was asked for or not."""

    async def logs(self, name: str, lines: int) -> str:
        """The last lines that the worker printed, even if the worker has ended."""

    def lines(
        self, name: str, last: int | None, shown: Shown, *, follow: bool
    ) -> AsyncGenerator[Line]:
        """Yield the last `last` lines that `shown` accepts.

        With `follow`, the lines that the worker prints from then on are yielded, too, until the
        worker has ended and its last line was yielded; None for `last`, which is used only with
        `follow`, stands for all lines. If the caller is slow, the runtime waits: it keeps no more
        than one block in memory.
        """
