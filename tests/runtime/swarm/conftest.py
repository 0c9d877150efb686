"""Real services for tests."""

from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable, Callable
from pathlib import Path

import pytest

from steelyard.runtime.swarm.runtime import SwarmRuntime
from tests.contract.runtimes import swarm_runtime
from tests.docker.swarm import Swarm
from tests.runtime.engine.making import making

Make = Callable[..., Awaitable[SwarmRuntime]]


@pytest.fixture
async def make(swarm: Swarm, tmp_path: Path) -> AsyncIterator[Make]:
    async with making(swarm_runtime, tmp_path) as make:
        yield make
