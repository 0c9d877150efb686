"""Real containers for tests."""

from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable, Callable
from pathlib import Path

import pytest

from steelyard.runtime.docker.runtime import DockerRuntime
from tests.contract.runtimes import docker_runtime
from tests.docker.engine import Engine
from tests.runtime.engine.making import making

Make = Callable[..., Awaitable[DockerRuntime]]


@pytest.fixture
async def make(docker: Engine, tmp_path: Path) -> AsyncIterator[Make]:
    async with making(docker_runtime, tmp_path) as make:
        yield make
