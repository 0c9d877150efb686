"""Discovery between hosts, which are network namespaces on one bridge."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import ExitStack

import pytest

from tests.contract.transports import Remote, eventually
from tests.mesh.hosts import Hosts

pytestmark = [pytest.mark.xdist_group("hosts"), pytest.mark.needs("namespaces")]
OFTEN = range(6)  # identities are random, and decide which node connects

Start = Callable[..., Remote]


@pytest.fixture(scope="module")
def start() -> Iterator[Start]:
    """Start nodes on three hosts."""
    with Hosts(3) as hosts, ExitStack() as stack:

        def start(host: int, *, local: bool = False, **options: object) -> Remote:
            listen = [] if local else [f"tcp/{hosts.addresses[host]}:0"]
            node = Remote(host=hosts.spaces[host].pid, listen=listen, insecure=True, **options)
            stack.callback(node.kill)
            return node

        yield start


@pytest.fixture(scope="module")
def nodes(start: Start) -> list[Remote]:
    """Two nodes that found each other by multicast."""
    nodes = [start(host, multicast=True) for host in (0, 1)]
    eventually(lambda: all(len(node.peers()) == 1 for node in nodes))
    return nodes


@pytest.mark.parametrize("attempt", OFTEN)
def test_nodes_are_found_by_multicast(nodes: list[Remote], start: Start, attempt: int) -> None:
    """Multicast finds nodes also for a client that listens on loopback only."""
    client = start(2, local=True, multicast=True)
    eventually(lambda: len(client.peers()) == len(nodes))
    client.kill()
    eventually(lambda: all(len(node.peers()) == 1 for node in nodes))


@pytest.mark.parametrize("attempt", OFTEN)
def test_nodes_are_found_through_one_of_them(
    nodes: list[Remote], start: Start, attempt: int
) -> None:
    """Gossip finds nodes also for a client that listens on loopback only."""
    client = start(2, local=True, join=nodes[0].locators)
    eventually(lambda: len(client.peers()) == len(nodes))
    client.kill()
    eventually(lambda: all(len(node.peers()) == 1 for node in nodes))
