"""A swarm of three nodes, which the tests here share."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.conftest import borrowed, started
from tests.docker.swarm import Swarm, private_nodes


@pytest.fixture(scope="module")
def nodes() -> Iterator[Swarm]:
    with started(lambda: private_nodes(3)) as swarm:
        yield swarm


@pytest.fixture
def three(nodes: Swarm, monkeypatch: pytest.MonkeyPatch) -> Iterator[Swarm]:
    """Three nodes, of which the first is the manager."""
    with borrowed(nodes, monkeypatch):
        yield nodes
