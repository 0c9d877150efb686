"""Pools for the tests of mesh/execution."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.mesh.execution.stage import Stage


@pytest.fixture(scope="module")
def shared() -> Iterator[Stage]:
    with pytest.MonkeyPatch.context() as patch:
        # otherwise C's output would show up because of the variable
        patch.delenv("PYTHONUNBUFFERED", raising=False)
        stage = Stage(2)
        yield stage
    stage.pool.close()


@pytest.fixture
def stage(shared: Stage) -> Iterator[Stage]:
    """A pool of two children; whatever a test did, it must work as before."""
    yield shared
    assert shared.value("add", 1, 2) == 3
    assert shared.pool.free == 2


@pytest.fixture
def alone() -> Iterator[Stage]:
    """A pool of one child."""
    stage = Stage(1)
    yield stage
    stage.pool.close()
