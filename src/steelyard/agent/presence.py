"""Presence: whether the runtime can be reached, checked at a bounded rate.

The end of an engine is noticed within about a second, and its return within half a second. The list
of running workers is read before the fleet is told of the return: so the fleet first learns which
workers the engine has lost, and then acts on all of them at once.
"""

from __future__ import annotations

import asyncio
import random
from collections.abc import Awaitable, Callable

from steelyard.core.events import Event, Reconciled, RuntimeFound, RuntimeLost
from steelyard.errors import SteelyardError
from steelyard.runtime.base import Runtime

EVERY = 1.0  # seconds between two checks of a runtime that answers
AGAIN = 0.5  # seconds between two checks of a runtime that is away
SPREAD = 0.2  # the random share of a pause: agents of one engine must not check it all at once


class Presence:
    """Tells the fleet of each loss and each return of the runtime."""

    def __init__(
        self,
        runtime: Runtime,
        tell: Callable[[Event], None],
        look: Callable[[], Awaitable[Reconciled]],
        chance: Callable[[], float] = random.random,
    ) -> None:
        """`look` asks the runtime which workers run."""
        self.away = ""  # why the runtime is unreachable; empty while it answers
        self._runtime = runtime
        self._tell = tell
        self._look = look
        self._chance = chance
        self._asking = asyncio.Lock()

    async def watch(self) -> None:
        """Check the runtime again and again, for ever."""
        while True:
            pause = AGAIN if self.away else EVERY
            await asyncio.sleep(pause * (1 + SPREAD * (self._chance() - 0.5)))
            await self.check()

    async def check(self) -> None:
        """Check the runtime once, for instance after a start or stop that failed."""
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
