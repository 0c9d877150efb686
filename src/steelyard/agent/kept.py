"""The limits that the store kept from an earlier agent, read as soon as the store is available.

Agent and store are often started together, by Compose or with the machine. The agent does not wait
for the store; but limits that an operator set must not be lost because the agent started faster.
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

AGAIN = 1.0  # seconds between two attempts to read from a store that is away


class KeptLimits:
    """Reads the limits set at run time from the store."""

    def __init__(self, store: Store) -> None:
        self._store = store
        self._read = False

    async def now(self) -> LimitsRecord | None:
        """The stored limits; None if there are none, or if the store is not available yet."""
        try:
            kept = await self._store.limits()
        except StoreError as error:
            log.warning("store: %s; the configured limits apply until it is back", error.message)
            return None
        self._read = True
        return kept

    @asynccontextmanager
    async def later(self, agent: Agent) -> AsyncIterator[None]:
        """A context in which an agent that began without the limits gets them later.

        The agent is told as soon as they can be read from the store.
        """
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
        # Limits that an operator has set meanwhile are newer than the stored ones.
        untouched = (limits.min, limits.max) == limits.configured
        found = Limits.begin(limits.configured, kept)
        if untouched and (found.min, found.max) != limits.configured:
            agent.tell(LimitsAsked(found.min, found.max))
