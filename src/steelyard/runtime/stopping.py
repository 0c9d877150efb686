"""How a worker is stopped, whatever it is: asked once, and insisted on when its time is over."""

from __future__ import annotations

import asyncio
import contextlib
from typing import Protocol


class Stoppable(Protocol):
    """A worker that is looked after."""

    over: asyncio.Event  # nothing of it is left

    async def ask(self) -> None: ...

    async def insist(self) -> None: ...


async def stop(worker: Stoppable, grace: float) -> None:
    """Return when it is over. A `grace` of 0 insists at once."""
    if grace > 0:
        await worker.ask()
        with contextlib.suppress(TimeoutError):
            await asyncio.wait_for(worker.over.wait(), grace)
    if not worker.over.is_set():
        await worker.insist()
        await worker.over.wait()
