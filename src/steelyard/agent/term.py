"""A term: one agent's time as the leader, from finding the workers to an orderly end.

It ends when a stop is asked for, or when the lease is lost. In the first case what is under way
is finished; in the second it is dropped at once, as another agent may lead already.
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
    """The agent ends, and workers that were to end with it may run on."""

    fault = Fault.MACHINE

    def __init__(self, workers: Sequence[str], reason: str) -> None:
        super().__init__(
            f"{len(workers)} workers could not be stopped and may run on: {', '.join(workers)} "
            f"(the runtime cannot be asked: {reason})",
            hint="the next start finds them; or end them yourself when the runtime is back",
        )


@dataclass(frozen=True, slots=True)
class Term:
    """What a leader has."""

    settings: Settings
    token: str
    sock: socket.socket
    store: Store
    claimant: Claimant | None = None  # None: there is only one agent
    notes: Callable[[], list[str]] = list  # what people are told beside the rest

    def may_act(self) -> bool:
        return self.claimant is None or self.claimant.leads()

    async def lost(self) -> str:
        """Why this term has ended; without a lease it never does."""
        if self.claimant is None:
            await asyncio.Event().wait()
        return await self.claimant.keep() if self.claimant else ""

    def writer(self) -> Writer:
        return Writer(self.store, self.claimant.holder if self.claimant else "")


async def lead(term: Term, stop: Stop) -> None:
    """Lead until a stop is asked for, or the lease is lost."""
    lost = asyncio.create_task(term.lost())  # from the start: finding the workers takes a while
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
    """Run the loop until the term ends; then end as configured."""
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
        running.result()  # the loop never ends by itself: this raises what broke it
    await _end(running)
    if agent.fleet.left:
        raise LeftError(agent.fleet.left, agent.fleet.absence.reason)


async def _end(running: asyncio.Task[None]) -> None:
    """Cancel until it has ended: where the machine is busy a library of a store's may take the
    first time for a timeout of its own, and the agent would hold its port for ever."""
    while not running.done():
        running.cancel()
        await asyncio.wait({running}, timeout=1.0)


async def _close(agent: Agent) -> None:
    agent.tell(CloseAsked())  # at once: an agent that is only starting must not start workers
    await agent.closed.wait()


async def _finish(agent: Agent) -> None:
    if agent.fleet.left is None:
        await agent.executor.close()
    else:  # what is under way waits for a runtime that does not answer
        await agent.executor.cancel()
    await agent.writer.flush(timeout=2.0)


async def _drop(agent: Agent, why: str) -> None:
    log.warning("leads no more: %s; workers are left as they are", why)
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
    """Stop what an earlier agent left."""
    left = await runtime.running()
    await asyncio.gather(*(runtime.stop(worker.name, grace=5.0) for worker in left))
    if left:
        log.info("reaped %d workers of an earlier agent", len(left))
    with suppress(StoreError):  # then the records go when the fleet reconciles
        await store.write([Forget(record.name) for record in await store.workers()])
