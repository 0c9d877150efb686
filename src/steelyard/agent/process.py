"""One agent process: lock, token, store, signals, and its turns at leading.

Without a lease there is one turn, from start to stop. With a lease the agent stands by, leads while
it holds the lease, and stands by again when it has lost it. A standby touches no worker and does
not listen on its port; so the agents of one machine can share an address, at which balancers find
the leader.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from steelyard.agent.claimant import Claimant
from steelyard.agent.lock import sole_agent
from steelyard.agent.stop import Stop
from steelyard.agent.supervision import Supervision
from steelyard.agent.term import Term, lead
from steelyard.config.settings import Settings
from steelyard.errors import StoreError
from steelyard.sockets import InUseError, listen
from steelyard.state_folder import open_state_folder
from steelyard.store.base import Store
from steelyard.store.open import open_store
from steelyard.token import ensure_token

log = logging.getLogger(__name__)


def run_agent(
    settings: Settings, *, last: bool = False, supervision: Supervision | None = None
) -> None:
    """Run an agent until it is asked to stop.

    With `last` the stop is asked for from the start: this agent only stops workers that are left.
    """
    open_state_folder(settings.folder)
    with sole_agent(settings.folder, shared=settings.agent.lease > 0):
        token = ensure_token(settings.token_file)
        run = _take_turns if settings.agent.lease > 0 else _lead_alone
        asyncio.run(run(settings, token, last, supervision or Supervision()))


async def _lead_alone(settings: Settings, token: str, last: bool, supervision: Supervision) -> None:
    supervision.watch()
    with listen(settings.agent.listen, 128, "--agent-listen") as sock:
        async with _opened(settings) as store:
            term = Term(settings, token, sock, store, notes=supervision.notes)
            await lead(term, Stop(settings, asked=last))


async def _take_turns(settings: Settings, token: str, last: bool, supervision: Supervision) -> None:
    supervision.watch()
    stop = Stop(settings, asked=last)
    async with _opened(settings) as store:
        while await _won(claimant := Claimant(store, settings.agent.lease), stop):
            try:
                with listen(settings.agent.listen, 128, "--agent-listen") as sock:
                    term = Term(settings, token, sock, store, claimant, supervision.notes)
                    await lead(term, stop)
            except InUseError as error:  # a leader that hangs may still have the port, for instance
                log.error("cannot lead: %s", error.message)
                await claimant.release()
                await asyncio.sleep(settings.agent.lease)  # so that another agent can lead
            finally:
                await claimant.release()


async def _won(claimant: Claimant, stop: Stop) -> bool:
    """Stand by until this agent has the lease; False if a stop is asked for before."""
    winning = asyncio.create_task(claimant.win())
    asked = asyncio.create_task(stop.asked.wait())
    await asyncio.wait({winning, asked}, return_when=asyncio.FIRST_COMPLETED)
    for task in (winning, asked):
        task.cancel()
    if stop.asked.is_set():
        await claimant.release()
        return False
    winning.result()
    return True


@asynccontextmanager
async def _opened(settings: Settings) -> AsyncIterator[Store]:
    store = open_store(settings.store.url, settings.application.name, settings.folder)
    try:
        await store.open()
    except StoreError as error:  # the agent can start and watch workers without a store
        log.warning("store: %s; going on from memory (%s)", error.message, error.hint)
    try:
        yield store
    finally:
        await store.close()
