"""Presence: whether the runtime can be asked, found out again and again at a bounded pace.

An engine that was killed is missed within about a second, and its return is noticed within half of
one. What runs is asked for before its return is told, so that the fleet first learns which workers
the engine has lost, and then acts on all of it at once.
"""

from __future__ import annotations

import asyncio
import random
from collections.abc import Awaitable, Callable

from steelyard.core.events import Event, Reconciled, RuntimeFound, RuntimeLost
from steelyard.errors import SteelyardError
from steelyard.runtime.base import Runtime

EVERY = 1.0  # seconds between two questions to a runtime that answers
AGAIN = 0.5  # the same for one that is away
SPREAD = 0.2  # how much of it is by chance: agents of one engine must not ask it all at once


class Presence:
    """Tells of each loss and each return, once."""

    def __init__(
        self,
        runtime: Runtime,
        tell: Callable[[Event], None],
        look: Callable[[], Awaitable[Reconciled]],
        chance: Callable[[], float] = random.random,
    ) -> None:
        """`look` asks the runtime what runs."""
        self.away = ""  # why the runtime cannot be asked; empty while it can
        self._runtime = runtime
        self._tell = tell
        self._look = look
        self._chance = chance
        self._asking = asyncio.Lock()

    async def watch(self) -> None:
        """Ask, for ever."""
        while True:
            pause = AGAIN if self.away else EVERY
            await asyncio.sleep(pause * (1 + SPREAD * (self._chance() - 0.5)))
            await self.check()

    async def check(self) -> None:
        """Ask once; whoever was refused by the runtime wants to know at once whether it is away."""
        async with self._asking:
            try:
                await self._runtime.ping()
                if self.away:
                    self._found(await self._look())
            except SteelyardError as error:
                self.away = error.message
                self._tell(RuntimeLost(error.message))

    def _found(self, running: Reconciled) -> None:
        self.away = ""
        self._tell(running)
        self._tell(RuntimeFound())
