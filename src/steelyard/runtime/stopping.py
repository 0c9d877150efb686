"""Stops a worker of any runtime: asks it once to end, and kills it when its grace is over."""

from __future__ import annotations

import asyncio
import contextlib
from typing import Protocol


class Stoppable(Protocol):
    """A worker that a runtime watches."""

    over: asyncio.Event  # set when nothing of the worker is left

    async def ask(self) -> None: ...

    async def insist(self) -> None: ...


async def stop(worker: Stoppable, grace: float) -> None:
    """Return when nothing of the worker is left; with `grace` 0, kill the worker at once."""
    if grace > 0:
        await worker.ask()
        with contextlib.suppress(TimeoutError):
            await asyncio.wait_for(worker.over.wait(), grace)
    if not worker.over.is_set():
        await worker.insist()
        await worker.over.wait()
