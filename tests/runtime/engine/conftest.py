"""Both engines, for tests of the parts they share: containers of one, services of a swarm."""

from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable, Callable
from pathlib import Path

import pytest

from steelyard.runtime.docker.runtime import DockerRuntime
from steelyard.runtime.swarm.runtime import SwarmRuntime
from tests.contract.runtimes import docker_runtime, swarm_runtime
from tests.docker.engine import Engine
from tests.docker.swarm import Swarm
from tests.runtime.engine.making import making

Runtime = DockerRuntime | SwarmRuntime
Make = Callable[..., Awaitable[Runtime]]
NEW: dict[str, Callable[..., Runtime]] = {"docker": docker_runtime, "swarm": swarm_runtime}


@pytest.fixture(params=[pytest.param(kind, marks=pytest.mark.needs(kind)) for kind in NEW])
def kind(request: pytest.FixtureRequest) -> str:
    return str(request.param)


@pytest.fixture
def new(kind: str) -> Callable[..., Runtime]:
    """Makes runtimes that are not open."""
    return NEW[kind]


@pytest.fixture
def engine(kind: str, request: pytest.FixtureRequest) -> Engine:
    """The engine that receives requests and runs the containers."""
    found: Engine | Swarm = request.getfixturevalue(kind)
    return found.manager if isinstance(found, Swarm) else found


@pytest.fixture
async def make(new: Callable[..., Runtime], engine: Engine, tmp_path: Path) -> AsyncIterator[Make]:
    async with making(new, tmp_path) as make:
        yield make
