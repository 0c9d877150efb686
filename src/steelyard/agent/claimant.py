"""The claimant: asks the store for the lease, and keeps it up while this agent leads."""

from __future__ import annotations

import asyncio
import logging
import os
import socket
import time
import uuid
from collections.abc import Callable
from contextlib import suppress

from steelyard.core.lease import Answer, Lease, Role
from steelyard.errors import StoreError
from steelyard.store.base import Store

log = logging.getLogger(__name__)


def uptime() -> float:
    """A clock that goes on while the machine sleeps: the store's does, too."""
    return time.clock_gettime(time.CLOCK_BOOTTIME)


class Claimant:
    """One term: from standing by to the end of leading. For the next, make another."""

    def __init__(self, store: Store, seconds: float, clock: Callable[[], float] = uptime) -> None:
        # Of this term alone: a late word of an earlier one must not pass for one of this.
        self.holder = f"{socket.gethostname()}:{os.getpid()}:{uuid.uuid4().hex[:8]}"
        self._store = store
        self._lease = Lease(seconds)
        self._clock = clock
        self._said = ""

    def leads(self) -> bool:
        """Whether this agent may act now."""
        return self._lease.leads(self._clock())

    async def win(self) -> None:
        """Stand by until the lease is ours."""
        while self._lease.role is Role.STANDBY:
            await self._claim()
            if self._lease.role is Role.STANDBY:
                await asyncio.sleep(self._lease.pace)
        log.info("leads, as %s", self.holder)

    async def keep(self) -> str:
        """Claim again and again until it is lost; then everything must have stopped. Why it was."""
        while True:
            left = self._lease.until - self._clock()
            await asyncio.sleep(max(0.0, min(self._lease.pace, left)))
            await self._claim()
            if self._lease.role is Role.OVER:
                return self._said or "this process was held up for too long"

    async def release(self) -> None:
        """Let the next one lead at once, if we still do; nothing may be under way any more."""
        if self.leads():
            with suppress(StoreError):  # then it runs out
                await self._store.release(self.holder)

    async def _claim(self) -> None:
        asked = self._clock()
        answer = await self._ask()
        self._lease.hear(answer, asked, self._clock())

    async def _ask(self) -> Answer:
        try:
            async with asyncio.timeout(self._lease.pace):
                holder = await self._store.claim(self.holder, self._lease.seconds)
        except StoreError as error:
            self._say(f"the store cannot be reached: {error.message}")
            return Answer.SILENCE
        except TimeoutError:
            self._say(f"the store does not answer within {self._lease.pace:g} s")
            return Answer.SILENCE
        if holder == self.holder:
            self._said = ""
            return Answer.GRANTED
        self._say(f"{holder} leads")
        return Answer.REFUSED

    def _say(self, why: str) -> None:
        """Once per reason: claims come several times in a lease."""
        if why != self._said:
            log.info("%s: %s", self._lease.role, why)
        self._said = why
