"""The claimant: claims the lease from the store, and renews it while this agent leads."""

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
    """A clock that goes on while the machine sleeps, as the clock of the store does."""
    return time.clock_gettime(time.CLOCK_BOOTTIME)


class Claimant:
    """Claims the lease for one term, from standing by to the end of leading.

    The next term needs a new claimant.
    """

    def __init__(self, store: Store, seconds: float, clock: Callable[[], float] = uptime) -> None:
        # Each term has a name of its own: the store must not take a late message of an earlier
        # term for one of this term.
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
        log.info("this agent leads now, as %s", self.holder)

    async def keep(self) -> str:
        """Renew the lease until it is lost; return the reason.

        From then on this agent must not act any more.
        """
        while True:
            left = self._lease.until - self._clock()
            await asyncio.sleep(max(0.0, min(self._lease.pace, left)))
            await self._claim()
            if self._lease.role is Role.OVER:
                return self._said or "this process was paused for too long"

    async def release(self) -> None:
        """Release the lease if this agent still leads, so that the next one leads at once.

        No start or stop of a worker may be under way.
        """
        if self.leads():
            with suppress(StoreError):  # the lease then expires by itself
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
        """Log why the lease is not granted; the same reason only once, as claims are frequent."""
        if why != self._said:
            log.info("%s: %s", self._lease.role, why)
        self._said = why
