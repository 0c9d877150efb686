"""Pools for tests that look at one thing."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.mesh.execution.stage import Stage


@pytest.fixture(scope="module")
def shared() -> Iterator[Stage]:
    with pytest.MonkeyPatch.context() as patch:
        patch.delenv("PYTHONUNBUFFERED", raising=False)  # or it would be it that C's output shows
        stage = Stage(2)
        yield stage
    stage.pool.close()


@pytest.fixture
def stage(shared: Stage) -> Iterator[Stage]:
    """Two children; after whatever a test did, the pool works as before."""
    yield shared
    assert shared.value("add", 1, 2) == 3
    assert shared.pool.free == 2


@pytest.fixture
def alone() -> Iterator[Stage]:
    """One child."""
    stage = Stage(1)
    yield stage
    stage.pool.close()
