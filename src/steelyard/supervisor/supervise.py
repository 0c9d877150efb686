"""All children together: the agent first, balancers on their shared port, and an orderly stop.

On a stop the balancers go first: they take no new connection, finish what they have and say so.
Only then does the agent stop the workers. Asked a second time, everything ends at once.

On a reload the next generation of balancers takes over the port (reload).
"""

from __future__ import annotations

import asyncio
import signal
import socket
from collections.abc import Callable, Coroutine, Sequence
from typing import Any

from steelyard.config.settings import Settings
from steelyard.config.values import Address
from steelyard.door import SETTLE
from steelyard.supervisor.child import Child
from steelyard.supervisor.generation import Generation
from steelyard.supervisor.hangup import Hangup
from steelyard.supervisor.notify import Notify
from steelyard.supervisor.plan import Order, agent_link, agent_role
from steelyard.supervisor.port import Port
from steelyard.supervisor.reload import Reload
from steelyard.supervisor.scrape import Scrape


class Supervisor:
    """The children of one `steelyard up` or `steelyard balancer`."""

    def __init__(
        self,
        order: Order,
        say: Callable[[str], None],
        load: Callable[[], Order] | None = None,
        notify: Notify | None = None,
        given: Sequence[socket.socket] = (),
    ) -> None:
        """`load` gives the order anew when a reload asks for it; without it there is none.
        Sockets that were `given` are listened on instead of ones of our own."""
        gateway = order.settings.gateway
        self.say = say
        self.notify = notify or Notify({})
        self.port = (
            Port(gateway.listen, given, given=True)
            if given
            else Port.bind(gateway.listen, gateway.processes)
        )
        self.agent = Child(agent_role(order.settings), say) if order.source is None else None
        self.scrape = None if gateway.metrics is None else Scrape(gateway.metrics)
        self._bred = 0
        self.generation = self.breed(order, self.port)
        self.generations = [self.generation]  # with those that have not ended yet
        self.failed: Child | None = None  # which cannot be kept running
        self.reload = None if load is None else Reload(self, load)
        self._signals = 0
        self._over = asyncio.Event()
        self.announced = asyncio.Event()
        self._tasks: set[asyncio.Task[None]] = set()
        self.port.open(gateway.backlog)

    @property
    def address(self) -> Address:
        """Where clients are served."""
        return self.port.address

    @property
    def over(self) -> bool:
        """Whether the end was asked for, or has come by itself."""
        return self._over.is_set()

    @property
    def settings(self) -> Settings:
        """Those that are served by."""
        return self.generation.settings

    @property
    def balancers(self) -> list[Child]:
        return self.generation.balancers

    def start(self) -> None:
        """Start everything; signals stop it again."""
        loop, hangup = asyncio.get_running_loop(), Hangup()
        for number in (signal.SIGINT, signal.SIGTERM):
            loop.add_signal_handler(number, self.stop)
        loop.add_signal_handler(signal.SIGHUP, self._hung_up, hangup)
        loop.add_signal_handler(signal.SIGUSR1, self.reopen_logs)
        if self.scrape is not None:  # before there is anybody to tell it something
            self.scrape.start(lambda: self.settings.gateway.policy)
            self.say(f"metrics on http://{self.scrape.address}/metrics")
        if self.agent is not None:
            self.agent.start()
            self.go_on(self._watch(self.agent))
        self.generation.start()
        self.look_after(self.generation)
        if self.reload is not None:
            self.go_on(self.reload.run())

    async def serving(self) -> None:
        """Wait until every balancer serves, or there is nothing to wait for any more."""
        over = asyncio.create_task(self._over.wait())
        serving = asyncio.create_task(self.generation.serving())
        await asyncio.wait({over, serving}, return_when=asyncio.FIRST_COMPLETED)
        over.cancel()
        serving.cancel()

    def announce(self) -> None:
        """All is there, and somebody was told: from now on it can be reloaded."""
        self.notify.ready()
        self.announced.set()

    def reopen_logs(self) -> None:
        """Have the access log opened anew: it was moved away."""
        for generation in self.generations:
            generation.tell(signal.SIGUSR1)

    def stop(self) -> None:
        """Ask for the end; asked again, insist."""
        self._signals += 1
        self._over.set()
        if self._signals > 1:
            self._insist()

    async def stopped_or_failed(self) -> Child | None:
        """Wait until a stop is asked for (None), or for a child that cannot be kept running."""
        await self._over.wait()
        return self.failed

    async def close(self) -> None:
        """End all children, balancers first."""
        self._over.set()
        self.notify.stopping()
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)
        self.port.shut()
        await asyncio.sleep(SETTLE)
        for generation in self.generations:
            generation.stop()
        self.port.close()
        await asyncio.gather(*(generation.ended() for generation in self.generations))
        if self.agent is not None:
            self.agent.stop()
            await self.agent.ended()
        if self.scrape is not None:
            await self.scrape.close()

    # For a reload

    def breed(self, order: Order, port: Port) -> Generation:
        """The next generation of balancers, for this order."""
        settings, source = order.settings, order.source
        link = source or agent_link(settings, settings.agent.listen)
        shares = port.shares(settings.gateway.processes)
        self._bred += 1
        return Generation(self._bred, settings, link, shares, self.say)

    def look_after(self, generation: Generation) -> None:
        """From now on this generation is the gateway's: it ends when one of them cannot go on."""
        for child in generation.balancers:
            self.go_on(self._watch(child))

    def go_on(self, work: Coroutine[Any, Any, None]) -> None:
        """Have it done beside all else, until the end."""
        task = asyncio.create_task(work)
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    def _hung_up(self, hangup: Hangup) -> None:
        if hangup.is_end() or self.reload is None:
            self.stop()
        else:
            self.reload.ask()

    async def _watch(self, child: Child) -> None:
        await child.gave_up.wait()
        self.failed = child
        self._over.set()

    def _insist(self) -> None:
        for generation in self.generations:
            generation.stop(signal.SIGKILL)
        if self.agent is not None:  # twice: the second one makes it kill its workers
            self.agent.stop()
            self.agent.stop()
