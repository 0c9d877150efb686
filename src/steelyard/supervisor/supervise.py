"""All children together: the agent first, balancers on their shared port, and an orderly stop.

On a stop the balancers go first: they take no new connection, finish what they have and say so.
Only then does the agent stop the workers. Asked a second time, everything ends at once.
"""

from __future__ import annotations

import asyncio
import signal
import socket
from collections.abc import Callable

from steelyard.config.settings import Settings
from steelyard.config.values import Address
from steelyard.core.queue import Queue
from steelyard.sockets import listen_many
from steelyard.supervisor.child import Child
from steelyard.supervisor.plan import AgentLink, agent_link, agent_role, balancer_role
from steelyard.supervisor.scrape import Scrape


class Supervisor:
    """The children of one `steelyard up` or `steelyard balancer`."""

    def __init__(
        self,
        settings: Settings,
        say: Callable[[str], None],
        source: AgentLink | Queue | None = None,
    ) -> None:
        """Without a source there is an agent of our own."""
        gateway = settings.gateway
        self._say = say
        self._sockets: list[socket.socket] = listen_many(
            gateway.listen, gateway.processes, gateway.backlog, "--listen"
        )
        self.address = Address(gateway.listen.host, self._sockets[0].getsockname()[1])
        self.agent = Child(agent_role(settings), say) if source is None else None
        link = source or agent_link(settings.agent.listen, settings)
        self.balancers = [
            Child(balancer_role(settings, index, sock.fileno(), link), say)
            for index, sock in enumerate(self._sockets)
        ]
        self.scrape = None if gateway.metrics is None else Scrape(gateway, gateway.metrics)
        self._signals = 0
        self._stop = asyncio.Event()

    @property
    def children(self) -> list[Child]:
        return [*([self.agent] if self.agent else []), *self.balancers]

    def start(self) -> None:
        """Start everything; signals stop it again."""
        loop = asyncio.get_running_loop()
        for number in (signal.SIGINT, signal.SIGTERM):
            loop.add_signal_handler(number, self.stop)
        if signal.getsignal(signal.SIGHUP) is not signal.SIG_IGN:  # as it is under nohup
            loop.add_signal_handler(signal.SIGHUP, self.stop)
        loop.add_signal_handler(signal.SIGUSR1, self.reopen_logs)
        if self.scrape is not None:  # before there is anybody to tell it something
            self.scrape.start()
            self._say(f"metrics on http://{self.scrape.address}/metrics")
        for child in self.children:
            child.start()

    def reopen_logs(self) -> None:
        """Have the access log opened anew: it was moved away."""
        for child in self.balancers:
            child.signal(signal.SIGUSR1)

    def stop(self) -> None:
        """Ask for the end; asked again, insist."""
        self._signals += 1
        self._stop.set()
        if self._signals > 1:
            self._insist()

    async def stopped_or_failed(self) -> Child | None:
        """Wait until a stop is asked for (None), or for a child that cannot be kept running."""
        asked = asyncio.create_task(self._stop.wait())
        gave_up = {asyncio.create_task(child.gave_up.wait()): child for child in self.children}
        done, pending = await asyncio.wait({asked, *gave_up}, return_when=asyncio.FIRST_COMPLETED)
        for task in pending:
            task.cancel()
        return next((gave_up[task] for task in done if task is not asked), None)

    async def close(self) -> None:
        """End all children, balancers first."""
        self._stop.set()
        for child in self.balancers:
            child.signal(signal.SIGTERM)
        await asyncio.gather(*(child.ended() for child in self.balancers))
        if self.agent is not None:
            self.agent.signal(signal.SIGTERM)
            await self.agent.ended()
        for sock in self._sockets:
            sock.close()
        if self.scrape is not None:
            await self.scrape.close()

    def _insist(self) -> None:
        for child in self.balancers:
            child.signal(signal.SIGKILL)
        if self.agent is not None:  # twice: the second one makes it kill its workers
            self.agent.signal(signal.SIGTERM)
            self.agent.signal(signal.SIGTERM)
