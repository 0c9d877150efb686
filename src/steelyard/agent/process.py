"""One agent process: lock, token, drivers, API, signals, and an orderly end.

TERM and INT stop the agent; whether its workers go with it is configured. Asked a second time
it kills them. HUP says that the parent has died: then `runtime.leftovers` decides whether the
workers are left for the next agent or stopped.
"""

from __future__ import annotations

import asyncio
import logging
import signal
import socket
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress

from steelyard.agent.build import build_fleet, build_runtime
from steelyard.agent.lock import sole_agent
from steelyard.agent.loop import Agent
from steelyard.agent.server import serve_api
from steelyard.agent.writer import Writer
from steelyard.config.settings import Settings
from steelyard.core.commands import Forget
from steelyard.core.events import CloseAsked
from steelyard.core.record import LimitsRecord
from steelyard.errors import StoreError
from steelyard.runtime.base import Runtime
from steelyard.sockets import listen
from steelyard.store.base import Store
from steelyard.store.open import open_store
from steelyard.token import ensure_token

log = logging.getLogger(__name__)


def run_agent(settings: Settings, *, last: bool = False) -> None:
    """Run until told to stop; the last agent comes only to end what is left, and is told now."""
    with sole_agent(settings.folder):
        token = ensure_token(settings.token_file)
        with listen(settings.agent.listen, 128, "--agent-listen") as sock:
            asyncio.run(_run(settings, token, sock, last))


async def _run(settings: Settings, token: str, sock: socket.socket, last: bool) -> None:
    async with _drivers(settings) as (runtime, store):
        if settings.runtime.leftovers == "reap":
            await _reap(runtime, store)
        fleet = build_fleet(settings, await _kept_limits(store))
        agent = Agent(settings, fleet, runtime, Writer(store))
        async with serve_api(agent, token, sock):
            await _live(agent, last)


async def _live(agent: Agent, last: bool) -> None:
    """Run the loop until a signal; then end as configured."""
    stop = Stop(agent)
    if last:
        stop.asked.set()
    running = asyncio.create_task(agent.run())
    asked = asyncio.create_task(stop.asked.wait())
    await asyncio.wait({running, asked}, return_when=asyncio.FIRST_COMPLETED)
    if not running.done() and stop.workers_too:
        closing = asyncio.create_task(_close(agent))
        await asyncio.wait({running, closing}, return_when=asyncio.FIRST_COMPLETED)
        closing.cancel()
    asked.cancel()
    await agent.prober.close()
    await agent.executor.close()
    await agent.writer.flush(timeout=2.0)
    if running.done():
        running.result()  # the loop never ends by itself: this raises what broke it
    running.cancel()
    await asyncio.wait({running})


async def _close(agent: Agent) -> None:
    agent.tell(CloseAsked())  # at once: an agent that is only starting must not start workers
    await agent.closed.wait()


class Stop:
    """What the signals ask for."""

    def __init__(self, agent: Agent) -> None:
        self.asked = asyncio.Event()
        self.workers_too = agent.settings.agent.on_stop == "stop"
        self._agent = agent
        loop = asyncio.get_running_loop()
        loop.add_signal_handler(signal.SIGTERM, self._stop)
        loop.add_signal_handler(signal.SIGINT, self._stop)
        loop.add_signal_handler(signal.SIGHUP, self._orphaned)

    def _stop(self) -> None:
        if self.asked.is_set():
            self._agent.kill()
        self.asked.set()

    def _orphaned(self) -> None:
        self.workers_too = self._agent.settings.runtime.leftovers == "reap"
        log.warning("parent died; workers are %s", "stopped" if self.workers_too else "left")
        self.asked.set()


@asynccontextmanager
async def _drivers(settings: Settings) -> AsyncIterator[tuple[Runtime, Store]]:
    runtime = build_runtime(settings)
    store = open_store(settings.store.url, settings.application.name, settings.folder)
    await runtime.open()
    for note in runtime.notes:
        log.warning("%s", note)
    try:
        await _open(store)
        yield runtime, store
    finally:
        await runtime.close()
        await store.close()


async def _open(store: Store) -> None:
    """Connect; a store that is down must not keep the agent from its workers."""
    try:
        await store.open()
    except StoreError as error:
        log.warning("store: %s; going on from memory (%s)", error.message, error.hint)


async def _reap(runtime: Runtime, store: Store) -> None:
    """Stop what an earlier agent left."""
    left = await runtime.running()
    await asyncio.gather(*(runtime.stop(worker.name, grace=5.0) for worker in left))
    if left:
        log.info("reaped %d workers of an earlier agent", len(left))
    with suppress(StoreError):  # then the records go when the fleet reconciles
        await store.write([Forget(record.name) for record in await store.workers()])


async def _kept_limits(store: Store) -> LimitsRecord | None:
    try:
        return await store.limits()
    except StoreError as error:
        log.warning("store: %s; limits as configured", error.message)
        return None
