"""What the store kept of an agent's last life: the limits, now or as soon as the store is there.

Agent and store are often started together, by Compose or with the machine. The agent does not wait
for it; but limits that an operator set must not be lost because the agent was faster.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress

from steelyard.agent.loop import Agent
from steelyard.core.events import LimitsAsked
from steelyard.core.limits import Limits
from steelyard.core.record import LimitsRecord
from steelyard.errors import StoreError
from steelyard.store.base import Store

log = logging.getLogger(__name__)

AGAIN = 1.0  # seconds until a store that is away is asked again


class KeptLimits:
    """The limits set at run time, as the store has them."""

    def __init__(self, store: Store) -> None:
        self._store = store
        self._read = False

    async def now(self) -> LimitsRecord | None:
        """None: there are none, or nobody can tell yet."""
        try:
            kept = await self._store.limits()
        except StoreError as error:
            log.warning("store: %s; limits as configured until it is there", error.message)
            return None
        self._read = True
        return kept

    @asynccontextmanager
    async def later(self, agent: Agent) -> AsyncIterator[None]:
        """Within, an agent that began without them is told of them when they can be read."""
        catching_up = asyncio.create_task(self._catch_up(agent))
        try:
            yield
        finally:
            catching_up.cancel()

    async def _catch_up(self, agent: Agent) -> None:
        kept = None
        while not self._read:
            await asyncio.sleep(AGAIN)
            with suppress(StoreError):
                kept, self._read = await self._store.limits(), True
        limits = agent.fleet.limits
        untouched = (limits.min, limits.max) == limits.configured  # an operator's word is newer
        found = Limits.begin(limits.configured, kept)
        if untouched and (found.min, found.max) != limits.configured:
            agent.tell(LimitsAsked(found.min, found.max))
