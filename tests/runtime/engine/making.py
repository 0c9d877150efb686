"""Opens runtimes for tests, and leaves nothing of theirs behind."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import AsyncIterator, Awaitable, Callable
from pathlib import Path
from typing import Any, TypeVar

from steelyard.runtime.docker.runtime import DockerRuntime
from steelyard.runtime.swarm.runtime import SwarmRuntime

R = TypeVar("R", DockerRuntime, SwarmRuntime)


@contextlib.asynccontextmanager
async def making(
    runtime: Callable[..., R], folder: Path
) -> AsyncIterator[Callable[..., Awaitable[R]]]:
    """Yield a function that opens runtimes of one folder; at the end, stop all their workers."""
    made: list[R] = []

    async def open_one(*command: str, **options: Any) -> R:
        given = {"command": command} if command else {}
        one = runtime(folder, **given, **options)
        await one.open()
        made.append(one)
        return one

    yield open_one
    for one in made:
        left = await one.running()
        await asyncio.gather(*(one.stop(worker.name, 0) for worker in left))
        await one.close()
