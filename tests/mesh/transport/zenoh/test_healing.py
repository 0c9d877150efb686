"""Cuts between hosts, which are network namespaces; `make mesh-chaos` has more, with times."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import ExitStack

import pytest

from tests.mesh.chaos import SCENARIOS, Mesh, Scenario
from tests.mesh.hosts import Hosts

pytestmark = pytest.mark.xdist_group("hosts")


@pytest.fixture(scope="module")
def mesh() -> Iterator[Mesh]:
    """A node on each of three hosts."""
    with Hosts(3) as hosts, ExitStack() as stack:
        yield Mesh(hosts, 1, stack)


@pytest.mark.needs("namespaces")
@pytest.mark.parametrize("scenario", [SCENARIOS[1], SCENARIOS[3]], ids=lambda one: one.name)
def test_a_mesh_that_was_cut_is_whole_again(mesh: Mesh, scenario: Scenario) -> None:
    """Nodes notice which others are cut off, and are linked and answer again after the cut."""
    mesh.play(scenario, hold=0.5)
