"""Real containers for tests, and nothing of them left afterwards."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from pathlib import Path
from typing import Any

import pytest

from steelyard.runtime.docker.runtime import DockerRuntime
from tests.contract.runtimes import docker_runtime
from tests.docker.engine import Engine

Make = Callable[..., Awaitable[DockerRuntime]]


@pytest.fixture
async def make(docker: Engine, tmp_path: Path) -> AsyncIterator[Make]:
    """Make open runtimes of one folder; whatever they start is stopped at the end."""
    made: list[DockerRuntime] = []

    async def open_one(*command: str, **options: Any) -> DockerRuntime:
        given = {"command": command} if command else {}
        runtime = docker_runtime(tmp_path, **given, **options)
        await runtime.open()
        made.append(runtime)
        return runtime

    yield open_one
    for runtime in made:
        left = await runtime.running()
        await asyncio.gather(*(runtime.stop(worker.name, 0) for worker in left))
        await runtime.close()
