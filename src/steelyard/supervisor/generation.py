"""Generation: balancers that were started together, with the same settings."""

from __future__ import annotations

import asyncio
import signal
from collections.abc import Callable, Sequence

from steelyard.config.settings import Settings
from steelyard.core.queue import Queue
from steelyard.supervisor.child import Child
from steelyard.supervisor.pidfile import PidFile
from steelyard.supervisor.plan import AgentLink, balancer_role


class Generation:
    """The balancers of one generation.

    Each balancer of the first generation serves as soon as it is ready. A later generation is held
    until all of its balancers are ready, and then takes over as a whole.
    """

    def __init__(
        self,
        number: int,
        settings: Settings,
        source: AgentLink | Queue,
        shares: Sequence[Sequence[int]],
        say: Callable[[str], None],
        pid_file: PidFile | None = None,
        *,
        board: str,
        held: bool,
    ) -> None:
        self.number = number
        self.settings = settings
        folder = None if pid_file is None else pid_file.folder
        roles = [
            balancer_role(settings, number, index, fds, source, folder, board=board, successor=held)
            for index, fds in enumerate(shares)
        ]
        self.balancers = [Child(role, say, held=held, pid_file=pid_file) for role in roles]

    def start(self) -> None:
        for child in self.balancers:
            child.start()

    async def ready(self) -> None:
        """Wait until each balancer is ready to serve."""
        await _all_set([child.ready for child in self.balancers])

    async def serving(self) -> None:
        """Wait until each balancer serves."""
        await _all_set([child.serving for child in self.balancers])

    async def gave_up(self) -> Child:
        """Wait for a balancer that cannot be kept running, and return it."""
        waits = {asyncio.create_task(child.gave_up.wait()): child for child in self.balancers}
        try:
            done, _ = await asyncio.wait(waits, return_when=asyncio.FIRST_COMPLETED)
        finally:
            for task in waits:
                task.cancel()
        return waits[done.pop()]

    def go(self) -> None:
        """Let the balancers serve."""
        for child in self.balancers:
            child.go()

    def tell(self, number: signal.Signals) -> None:
        for child in self.balancers:
            child.tell(number)

    def stop(self, number: signal.Signals = signal.SIGTERM) -> None:
        """Let the balancers finish their open exchanges, and end."""
        for child in self.balancers:
            child.stop(number)

    def replace(self) -> None:
        """Let the balancers end without hurry, because a newer generation serves the port."""
        self.stop(signal.SIGUSR2)

    async def ended(self) -> None:
        await asyncio.gather(*(child.ended() for child in self.balancers))


async def _all_set(events: Sequence[asyncio.Event]) -> None:
    """Wait until all events are set at the same moment.

    The event of a balancer that is killed meanwhile is cleared, and then waited for again.
    """
    while not all(event.is_set() for event in events):
        await asyncio.gather(*(event.wait() for event in events))
