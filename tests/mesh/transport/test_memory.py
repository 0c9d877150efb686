"""Faults that the network in memory has on demand; the rest is in the contract suite."""

from __future__ import annotations

import queue
import threading
from collections.abc import Iterator

import pytest

from steelyard.mesh.transport.base import Peer, Query
from steelyard.mesh.transport.memory import MemoryLink, Network

PATIENCE = 60.0


@pytest.fixture
def network() -> Iterator[Network]:
    found = Network(seed=1)
    yield found
    found.close()


def echo(query: Query) -> None:
    query.reply(query.payload)


def ask(one: MemoryLink, other: MemoryLink, payload: bytes = b"?") -> tuple[str, object]:
    told: queue.Queue[tuple[str, object]] = queue.Queue()
    one.ask(
        other.identity,
        payload,
        lambda got: told.put(("reply", got)),
        lambda why: told.put(("failure", why)),
    )
    return told.get(timeout=PATIENCE)


def test_what_is_lost_fails(network: Network) -> None:
    """The asker hears of a failure, whether the query or the answer was lost."""
    one, two = network.link(), network.link()
    two.serve(echo)
    network.loss = 0.5
    kinds = [ask(one, two)[0] for _ in range(100)]
    assert 10 < kinds.count("reply") < 50
    assert 50 < kinds.count("failure") < 90


def test_a_query_may_arrive_twice_and_is_answered_once(network: Network) -> None:
    """The second answer to a duplicated query is ignored."""
    one, two = network.link(), network.link()
    seen: list[bytes] = []

    def take(query: Query) -> None:
        seen.append(query.payload)
        query.reply(b"%d" % len(seen))

    two.serve(take)
    network.duplication = 1.0
    assert ask(one, two) == ("reply", b"1")
    assert ask(one, two)[0] == "reply"
    assert len(seen) >= 3


def test_delays_change_the_order(network: Network) -> None:
    """Queries may arrive in another order than they were sent."""
    one, two = network.link(), network.link()
    order: queue.Queue[bytes] = queue.Queue()

    def take(query: Query) -> None:
        order.put(query.payload)

    two.serve(take)
    network.delay = (0.0, 0.05)
    for number in range(30):
        one.ask(two.identity, b"%02d" % number, lambda got: None, lambda why: None)
    seen = [order.get(timeout=PATIENCE) for _ in range(30)]
    assert seen != sorted(seen)
    assert sorted(seen) == [b"%02d" % number for number in range(30)]


def test_a_cut_fails_what_is_open_and_hides_roles_until_it_is_mended(network: Network) -> None:
    """A cut fails open queries and hides roles only between its two links."""
    one, two, three = network.link(), network.link(), network.link()
    told: queue.Queue[tuple[str, Peer]] = queue.Queue()
    one.watch(lambda peer: told.put(("here", peer)), lambda peer: told.put(("gone", peer)))
    parked = threading.Event()
    two.serve(lambda query: parked.set())
    three.serve(echo)
    two.announce("worker")
    peer = Peer(two.identity, "worker", b"")
    assert told.get(timeout=PATIENCE) == ("here", peer)
    failed: queue.Queue[str] = queue.Queue()
    one.ask(two.identity, b"?", lambda got: None, failed.put)
    assert parked.wait(PATIENCE)
    network.cut(one.identity, two.identity)
    assert "cut" in failed.get(timeout=PATIENCE)
    assert told.get(timeout=PATIENCE) == ("gone", peer)
    assert ask(one, two)[0] == "failure"
    assert ask(one, three) == ("reply", b"?")
    network.heal()
    assert told.get(timeout=PATIENCE) == ("here", peer)
