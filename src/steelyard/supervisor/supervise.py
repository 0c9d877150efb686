"""All children together: the agent, the balancers on their shared port, and an orderly stop.

On a stop the balancers end first: they take no new connection and finish their open exchanges. Only
then does the agent stop the workers. A second request to stop ends everything at once.

On a reload the next generation of balancers takes over the port (reload). The same happens at a
start after a supervisor that was killed and left its balancers and its agent running (legacy).
"""

from __future__ import annotations

import asyncio
import signal
import socket
from collections.abc import Callable, Coroutine, Sequence
from typing import Any

from steelyard.config.settings import Gateway, Settings
from steelyard.config.values import Address
from steelyard.door import SETTLE
from steelyard.errors import SteelyardError
from steelyard.supervisor.child import Child
from steelyard.supervisor.generation import Generation
from steelyard.supervisor.hangup import Hangup
from steelyard.supervisor.legacy import Legacy, Orphans, find_legacy
from steelyard.supervisor.notify import Notify
from steelyard.supervisor.pidfile import PidFile
from steelyard.supervisor.plan import Order, agent_link, agent_role
from steelyard.supervisor.port import Port
from steelyard.supervisor.reload import Reload
from steelyard.supervisor.scrape import Scrape
from steelyard.supervisor.succession import for_ever, port_for, succeed


class Supervisor:
    """The children of one `steelyard up` or `steelyard balancer`."""

    def __init__(
        self,
        order: Order,
        say: Callable[[str], None],
        load: Callable[[], Order] | None = None,
        notify: Notify | None = None,
        given: Sequence[socket.socket] = (),
        pid_file: PidFile | None = None,
    ) -> None:
        """Prepare the children; `start` starts them.

        `load` returns the order by the present configuration, for a reload; without it there are no
        reloads. Sockets in `given` are used instead of new ones. With a `pid_file` the children
        outlive this supervisor, and it takes over those of the supervisor before it.
        """
        settings, gateway = order.settings, order.settings.gateway
        self.say = say
        self.notify = notify or Notify({})
        self._pid_file = pid_file
        self._legacy = (
            Legacy(settings) if pid_file is None else find_legacy(pid_file, settings, say)
        )
        port = _first_port(gateway, given, self._legacy.port)
        folder = None if pid_file is None else pid_file.folder
        role = agent_role(settings, folder)
        self.agent = Child(role, say, pid_file=pid_file) if order.source is None else None
        self.scrape = None if gateway.metrics is None else Scrape(gateway.metrics)
        self._bred = 0 if pid_file is None else pid_file.before.generation
        self._order = order, port  # order and port of our own first generation
        self.port = self._legacy.port or port
        self.generation: Generation | Orphans = (
            self._legacy.balancers
            if self._legacy.port is not None
            else self.breed(order, port, held=False)
        )
        self.generations = [self.generation]  # and older generations that have not ended yet
        # Balancers without a listening socket drain, and only have to be waited for.
        if self._legacy.port is None and self._legacy.balancers:
            self.generations.append(self._legacy.balancers)
        self.failed = False  # a child cannot be kept running, or the take-over failed
        self._settled = asyncio.Event()  # nothing is left to be taken over
        self.abandoned = False  # the take-over failed: the old balancers go on alone
        self._handing: asyncio.Task[None] | None = None  # hands the workers to our agent
        self.reload = None if load is None else Reload(self, load)
        self._signals = 0
        self._over = asyncio.Event()
        self.announced = asyncio.Event()
        self._tasks: set[asyncio.Task[None]] = set()
        if self._legacy.port is None:
            self.port.open(gateway.backlog)
            self.note_port()

    @property
    def address(self) -> Address:
        """The address at which clients are served."""
        return self.port.address

    @property
    def over(self) -> bool:
        """Whether a stop was asked for, or a failure ends the gateway."""
        return self._over.is_set()

    @property
    def settings(self) -> Settings:
        """The settings of the generation that serves now."""
        return self.generation.settings

    @property
    def balancers(self) -> list[Child]:
        return self.generation.balancers

    def start(self) -> None:
        """Start all children, and handle signals."""
        loop, hangup = asyncio.get_running_loop(), Hangup()
        for number in (signal.SIGINT, signal.SIGTERM):
            loop.add_signal_handler(number, self.stop)
        loop.add_signal_handler(signal.SIGHUP, self._hung_up, hangup)
        loop.add_signal_handler(signal.SIGUSR1, self.reopen_logs)
        if self._legacy:
            self.say("taking over the balancers and the agent of a supervisor that was killed")
        if self.scrape is not None:  # before the balancers, which connect to its board
            self.scrape.start(lambda: self.settings.gateway.policy)
            self.say(f"metrics on http://{self.scrape.address}/metrics")
        if self.agent is not None:
            self._handing = asyncio.create_task(self._begin_agent(self.agent))
        self.go_on(self._begin_balancers())
        if self.reload is not None:
            self.go_on(self.reload.run())

    async def settled(self) -> None:
        """Wait until nothing is left to be taken over."""
        await self._settled.wait()

    async def serving(self) -> None:
        """Wait until every balancer serves, or the end of the gateway has begun."""
        await self.unless_over(self._serving())

    async def unless_over(self, work: Coroutine[Any, Any, None]) -> None:
        """Wait for `work`, but cancel it when the end of the gateway begins."""
        over = asyncio.create_task(self._over.wait())
        working = asyncio.create_task(work)
        await asyncio.wait({over, working}, return_when=asyncio.FIRST_COMPLETED)
        over.cancel()
        working.cancel()

    def announce(self) -> None:
        """Tell systemd that the gateway serves; from now on it can be reloaded."""
        self.notify.ready()
        self.announced.set()

    def reopen_logs(self) -> None:
        """Let all balancers reopen the access log, because it was moved away."""
        for generation in self.generations:
            generation.tell(signal.SIGUSR1)

    def stop(self) -> None:
        """Ask for a stop; the second time, end everything at once."""
        self._signals += 1
        self._over.set()
        if self._signals > 1:
            self._insist()

    async def stopped_or_failed(self) -> bool:
        """Wait until a stop is asked for (False), or the gateway cannot go on (True)."""
        await self._over.wait()
        return self.failed

    async def close(self) -> None:
        """End all children, balancers first."""
        self._over.set()
        self.notify.stopping()
        if self._handing is not None:
            await self._handing
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)
        await (self._leave_alone() if self.abandoned else self._end_all())
        if self.scrape is not None:
            await self.scrape.close()

    async def _end_all(self) -> None:
        self.port.shut()
        await asyncio.sleep(SETTLE)
        for generation in self.generations:
            generation.stop()
        self.port.close()
        await asyncio.gather(*(generation.ended() for generation in self.generations))
        if self.agent is not None:
            self.agent.stop()
            await self.agent.ended()
        if self._pid_file is not None:
            self._pid_file.close()

    async def _leave_alone(self) -> None:
        """End our own children, and leave the old balancers and the workers as they are."""
        self.say("the take-over failed: the old balancers and workers go on without a supervisor")
        ours = [one for one in self.generations if one is not self._legacy.balancers]
        for generation in ours:
            generation.stop()
        await asyncio.gather(*(generation.ended() for generation in ours))
        if self.agent is not None:
            self.agent.leave()
            await self.agent.ended()
        self.port.close()
        if self._pid_file is not None:
            self._pid_file.leave()

    # The following methods are for a succession.

    def breed(self, order: Order, port: Port, *, held: bool) -> Generation:
        """Make the next generation of balancers for this order."""
        settings, source = order.settings, order.source
        link = source or agent_link(settings, settings.agent.listen)
        shares = port.shares(settings.gateway.processes)
        self._bred += 1
        if self._pid_file is not None:
            self._pid_file.breed(self._bred)
        board = "" if self.scrape is None else self.scrape.board
        return Generation(
            self._bred, settings, link, shares, self.say, self._pid_file, board=board, held=held
        )

    def note_port(self) -> None:
        """Note the address in the pid file, for the next supervisor."""
        if self._pid_file is not None:
            self._pid_file.serve(self.port.asked, given=self.port.given)

    def look_after(self, generation: Generation) -> None:
        """From now on, end the gateway if a balancer of this generation cannot be kept running."""
        for child in generation.balancers:
            self.go_on(self._watch(child))

    def go_on(self, work: Coroutine[Any, Any, None]) -> None:
        """Run this in the background, until the end of the gateway."""
        task = asyncio.create_task(work)
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    def _hung_up(self, hangup: Hangup) -> None:
        if hangup.is_end() or self.reload is None:
            self.stop()
        else:
            self.reload.ask()

    async def _begin_agent(self, agent: Child) -> None:
        """Start the agent, after the agent of a killed supervisor has left its workers to it."""
        old = self._legacy.agent
        if old is not None:
            await old.leave()
        agent.start(after=-signal.SIGHUP if old is not None else 0)
        self.go_on(self._watch(agent))

    async def _begin_balancers(self) -> None:
        if isinstance(self.generation, Generation):
            self.generation.start()
            self.look_after(self.generation)
            self._settled.set()
            return
        if self._handing is not None:  # the new balancers need the agent to get a queue
            await asyncio.wait({self._handing})
        if reason := await self._take_over():
            self.say(f"error: {reason}")
            self._give_up()
        else:
            self._settled.set()

    async def _take_over(self) -> str:
        """Take over from the balancers of a killed supervisor; return why it failed, if it did.

        They serve for as long as the take-over takes.
        """
        try:
            return await succeed(self, *self._order, for_ever)
        except SteelyardError as error:
            return str(error)

    async def _serving(self) -> None:
        await self._settled.wait()
        await self.generation.serving()

    async def _watch(self, child: Child) -> None:
        await child.gave_up.wait()
        self._give_up()

    def _give_up(self) -> None:
        """End the gateway because of a failure.

        Balancers of a killed supervisor go on serving if they have not been taken over yet: they
        are better than none.
        """
        self.abandoned = self.generation is self._legacy.balancers
        self.failed = True
        self._over.set()

    def _insist(self) -> None:
        for generation in self.generations:
            generation.stop(signal.SIGKILL)
        if self.agent is not None:
            self.agent.insist()


def _first_port(gateway: Gateway, given: Sequence[socket.socket], left: Port | None) -> Port:
    if given:
        return Port(gateway.listen, given, given=True)
    if left is not None:
        return port_for(gateway, left)
    return Port.bind(gateway.listen, gateway.processes)
