"""A term: the time of one agent as the leader, from finding the workers to an orderly end.

A term ends when a stop is asked for, or when the lease is lost. In the first case the agent
finishes the starts and stops that are under way. In the second case it cancels them at once,
because another agent may lead already.
"""

from __future__ import annotations

import asyncio
import logging
import socket
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass

from steelyard.agent.build import build_fleet, build_runtime
from steelyard.agent.claimant import Claimant
from steelyard.agent.kept import KeptLimits
from steelyard.agent.loop import Agent
from steelyard.agent.server import serve_api
from steelyard.agent.stop import Stop
from steelyard.agent.writer import Writer
from steelyard.config.settings import Settings
from steelyard.core.commands import Forget
from steelyard.core.events import CloseAsked
from steelyard.errors import Fault, SteelyardError, StoreError
from steelyard.runtime.base import Runtime
from steelyard.store.base import Store

log = logging.getLogger(__name__)


class LeftError(SteelyardError):
    """The agent has to end although it could not stop all workers, which may run on."""

    fault = Fault.MACHINE

    def __init__(self, workers: Sequence[str], reason: str) -> None:
        super().__init__(
            f"{len(workers)} workers could not be stopped and may run on: {', '.join(workers)} "
            f"(the runtime is unreachable: {reason})",
            hint="the next agent finds them; or stop them yourself when the runtime is back",
        )


@dataclass(frozen=True, slots=True)
class Term:
    """Everything that an agent needs to lead."""

    settings: Settings
    token: str
    sock: socket.socket
    store: Store
    claimant: Claimant | None = None  # None: there is only one agent
    notes: Callable[[], list[str]] = list  # further notes for the status

    def may_act(self) -> bool:
        return self.claimant is None or self.claimant.leads()

    async def lost(self) -> str:
        """Wait until the lease is lost, and return why; without a lease, wait for ever."""
        if self.claimant is None:
            await asyncio.Event().wait()
        return await self.claimant.keep() if self.claimant else ""

    def writer(self) -> Writer:
        return Writer(self.store, self.claimant.holder if self.claimant else "")


async def lead(term: Term, stop: Stop) -> None:
    """Lead until a stop is asked for, or the lease is lost."""
    # The lease is renewed from the start, because finding the workers takes a while.
    lost = asyncio.create_task(term.lost())
    try:
        async with _opened(term.settings) as runtime:
            if term.settings.runtime.leftovers == "reap":
                await _reap(runtime, term.store)
            limits = KeptLimits(term.store)
            fleet = build_fleet(term.settings, await limits.now())
            agent = Agent(
                term.settings,
                fleet,
                runtime,
                term.writer(),
                may_act=term.may_act,
                notes=term.notes,
            )
            stop.insist = agent.kill
            async with serve_api(agent, term.token, term.sock), limits.later(agent):
                await _live(agent, stop, lost)
    finally:
        lost.cancel()


async def _live(agent: Agent, stop: Stop, lost: asyncio.Task[str]) -> None:
    """Run the loop until the term ends; then stop or leave the workers, as configured."""
    running = asyncio.create_task(agent.run())
    asked = asyncio.create_task(stop.asked.wait())
    await asyncio.wait({running, asked, lost}, return_when=asyncio.FIRST_COMPLETED)
    if not running.done() and not lost.done() and stop.workers_too:
        closing = asyncio.create_task(_close(agent))
        await asyncio.wait({running, closing}, return_when=asyncio.FIRST_COMPLETED)
        closing.cancel()
    asked.cancel()
    await agent.prober.close()
    await (_drop(agent, lost.result()) if lost.done() else _finish(agent))
    if running.done():
        running.result()  # the loop never ends by itself: this raises the exception that broke it
    await _end(running)
    if agent.fleet.left:
        raise LeftError(agent.fleet.left, agent.fleet.absence.reason)


async def _end(running: asyncio.Task[None]) -> None:
    """Cancel the loop again and again until it has ended.

    On a busy machine the library of a store may take the first cancellation for a timeout of its
    own, and the agent would keep its port for ever.
    """
    while not running.done():
        running.cancel()
        await asyncio.wait({running}, timeout=1.0)


async def _close(agent: Agent) -> None:
    agent.tell(CloseAsked())  # also before the agent has started: then it starts no workers
    await agent.closed.wait()


async def _finish(agent: Agent) -> None:
    if agent.fleet.left is None:
        await agent.executor.close()
    else:  # starts and stops under way wait for a runtime that does not answer
        await agent.executor.cancel()
    await agent.writer.flush(timeout=2.0)


async def _drop(agent: Agent, why: str) -> None:
    log.warning("this agent no longer leads: %s; workers are left as they are", why)
    await agent.executor.cancel()


@asynccontextmanager
async def _opened(settings: Settings) -> AsyncIterator[Runtime]:
    runtime = build_runtime(settings)
    await runtime.open()
    for note in runtime.notes:
        log.warning("%s", note)
    try:
        yield runtime
    finally:
        await runtime.close()


async def _reap(runtime: Runtime, store: Store) -> None:
    """Stop the workers that an earlier agent left, and delete their records."""
    left = await runtime.running()
    await asyncio.gather(*(runtime.stop(worker.name, grace=5.0) for worker in left))
    if left:
        log.info("stopped %d workers of an earlier agent", len(left))
    with suppress(StoreError):  # otherwise the first reconciliation deletes the records
        await store.write([Forget(record.name) for record in await store.workers()])
