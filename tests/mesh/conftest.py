"""A mesh in memory, with real children, for tests of a single aspect."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import pytest

from steelyard import mesh
from steelyard.mesh import codec
from steelyard.mesh.execution.pool import Pool
from steelyard.mesh.node import Node
from steelyard.mesh.transport.memory import Network

MODULE = "tests.mesh.jobs"
FUNCTIONS = (
    *("add", "die", "die_once", "double", "fail", "hang", "mark", "mark_after", "repeat", "snooze"),
    *("speak", "wait_for"),
)
PATIENCE = 60.0  # seconds, for things that take a moment on a quiet machine


def new_node(network: Network, procs: int = 2, **changes: Any) -> Node:
    functions = tuple(f"{MODULE}:{name}" for name in FUNCTIONS)
    card = codec.Card("node", procs=procs, functions=functions)._replace(**changes)
    node = Node(network.link(), card, lambda n, told: Pool(n, told, preload=[MODULE]))
    node.start()
    return node


@pytest.fixture(scope="module")
def network() -> Iterator[Network]:
    network = Network()
    yield network
    network.close()


@pytest.fixture(scope="module")
def nodes(network: Network) -> Iterator[list[Node]]:
    """Two nodes with two children each, for all tests of a file."""
    nodes = [new_node(network), new_node(network)]
    yield nodes
    for node in nodes:
        node.close()


@pytest.fixture
def new_client(network: Network, nodes: list[Node]) -> Iterator[Callable[..., mesh.Client]]:
    clients: list[mesh.Client] = []

    def new(**options: Any) -> mesh.Client:
        client = mesh.Client(link=network.link(), **options)
        clients.append(client)
        assert client.wait_for_workers(2 * len(nodes), PATIENCE)
        return client

    yield new
    for client in clients:
        client.close()


@pytest.fixture
def client(new_client: Callable[..., mesh.Client]) -> mesh.Client:
    return new_client()
