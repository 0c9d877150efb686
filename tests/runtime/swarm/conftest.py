"""Real services for tests, and nothing of them left afterwards."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from pathlib import Path
from typing import Any

import pytest

from steelyard.runtime.swarm.runtime import SwarmRuntime
from tests.contract.runtimes import swarm_runtime
from tests.docker.swarm import Swarm

Make = Callable[..., Awaitable[SwarmRuntime]]


@pytest.fixture
async def make(swarm: Swarm, tmp_path: Path) -> AsyncIterator[Make]:
    """Make open runtimes of one folder; whatever they start is stopped at the end."""
    made: list[SwarmRuntime] = []

    async def open_one(*command: str, **options: Any) -> SwarmRuntime:
        given = {"command": command} if command else {}
        runtime = swarm_runtime(tmp_path, **given, **options)
        await runtime.open()
        made.append(runtime)
        return runtime

    yield open_one
    for runtime in made:
        left = await runtime.running()
        await asyncio.gather(*(runtime.stop(worker.name, 0) for worker in left))
        await runtime.close()
