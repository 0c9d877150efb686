"""Control: the second thread, with an ordinary asyncio loop, for all work not on clients' data."""

from __future__ import annotations

import asyncio
import contextlib
import logging
import random
import threading
from collections.abc import Callable

from steelyard.balancer.control.account import draw_up
from steelyard.balancer.control.agent_link import AgentLink, AgentSource
from steelyard.balancer.control.intake import Intake
from steelyard.balancer.control.pusher import Pusher
from steelyard.balancer.control.renewal import Renewal
from steelyard.balancer.control.reporter import Reporter
from steelyard.balancer.control.resolver import Resolver
from steelyard.balancer.downstream.front import Front
from steelyard.balancer.pool.guard import Guards
from steelyard.balancer.pool.table import Directory, Table
from steelyard.core.account import Account
from steelyard.core.queue import Queue

log = logging.getLogger(__name__)

FIRST_QUEUE = 3.0  # seconds; agent and balancers start at the same time, and Python starts slowly
TEND = 0.5  # seconds between two updates of the table by time alone
AGAIN = 2.0  # seconds until a fixed queue is applied again, as the address of a name may change


class Control:
    """Gives the data thread tables, made from an agent's queues or from a fixed queue."""

    def __init__(
        self,
        front: Front,
        offer: Callable[[Table], None],
        balancer: str,
        source: AgentSource | Queue,
        rng: random.Random,
        board: str = "",
    ) -> None:
        """`offer` hands a table to the data thread."""
        self._front = front
        self._bell = front.pool.bell
        self._balancer = balancer
        self._source = source
        self._rng = rng
        self._directory = Directory(
            self._bell, rng, front.settings, None if isinstance(source, Queue) else Guards()
        )
        self._intake = Intake(offer, self._directory, Resolver())
        self._pusher = Pusher(board, self._draw_up) if board else None
        self._loop: asyncio.AbstractEventLoop | None = None
        self._leave = asyncio.Event()
        self._thread = threading.Thread(target=self._run, name="control", daemon=True)

    def start(self) -> bool:
        """Start the thread and wait for the first queue; return False if none came in time.

        Clients wait in the kernel's queue meanwhile. Otherwise, a balancer that takes over a port
        in use would answer its first clients with 503.
        """
        self._thread.start()
        return self._intake.first.wait(FIRST_QUEUE)

    def finish(self, timeout: float) -> None:
        """Send the last report to the agent and end the thread."""
        if self._loop is not None:
            with contextlib.suppress(RuntimeError):  # the loop has ended already
                self._loop.call_soon_threadsafe(self._leave.set)
        self._thread.join(timeout)

    def _run(self) -> None:
        try:
            asyncio.run(self._main())
        except Exception:
            log.exception("the control thread failed; the last queue is served on")

    async def _main(self) -> None:
        self._loop = asyncio.get_running_loop()
        chores = [asyncio.create_task(self._tend())]
        identity = self._front.identity
        if identity is not None:
            renewal = Renewal(self._front, identity, self._front.settings.pairs)
            chores.append(asyncio.create_task(renewal.run()))
        if self._pusher is not None:
            chores.append(asyncio.create_task(self._pusher.run()))
        try:
            if isinstance(self._source, Queue):
                await self._stay(self._source)
            else:
                await self._follow(self._source)
        finally:
            self._bell.take_down()
            for chore in chores:
                chore.cancel()
            await asyncio.wait(chores)
            if self._pusher is not None:
                await self._pusher.finish()

    def _draw_up(self) -> Account:
        return draw_up(self._front, self._directory)

    async def _tend(self) -> None:
        while True:
            await asyncio.sleep(TEND)
            try:
                self._intake.tend()
            except Exception:  # a bug must not end the updates for good
                log.exception("the table could not be tended")

    async def _follow(self, source: AgentSource) -> None:
        reporter = Reporter(self._balancer, self._front, self._directory)
        link = AgentLink(source, self._balancer, self._intake, reporter, self._rng)
        self._bell.hang(asyncio.get_running_loop(), link.news)
        running = asyncio.create_task(link.run())
        await self._leave.wait()
        link.leave()
        await running

    async def _stay(self, queue: Queue) -> None:
        while not self._leave.is_set():
            self._intake.apply(queue)
            try:
                await asyncio.wait_for(self._leave.wait(), AGAIN)
            except TimeoutError:
                continue
