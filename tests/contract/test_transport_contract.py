"""The contract that every transport must keep; tests/contract/transports.py lists them."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from steelyard.mesh.transport.base import Peer
from steelyard.mesh.transport.chunks import CAP
from tests.contract.transports import (
    CRASH,
    PARK,
    REFUSE,
    TRANSPORTS,
    TWICE,
    Bench,
    brief,
    eventually,
    noise,
)

pytestmark = pytest.mark.xdist_group("transports")  # actors are shared, as they take time to start


@pytest.fixture(scope="module", params=TRANSPORTS)
def bench(request: pytest.FixtureRequest) -> Iterator[Bench]:
    found = TRANSPORTS[request.param]()
    yield found
    found.close()


@pytest.fixture(scope="module")
def pair(bench: Bench) -> tuple[Any, Any]:
    """Two actors for many tests; the second serves."""
    one, two = bench.actor(), bench.actor()
    two.serve()
    # Asking fails until the first has heard that the second serves.
    eventually(lambda: answer(one, one.ask(two.identity(), b"first")) == ("reply", b"first"))
    return one, two


def answer(actor: Any, ask: int) -> tuple[str, bytes]:
    """The one reply or failure of a query."""
    eventually(lambda: actor.answers(ask))
    (told,) = actor.answers(ask)
    return told  # type: ignore[no-any-return]


def test_a_query_is_answered_by_whom_it_was_asked_of(pair: tuple[Any, Any]) -> None:
    """The peer that answers knows the identity of the asker."""
    one, two = pair
    assert one.identity() != two.identity()
    assert answer(one, one.ask(two.identity(), b"hello")) == ("reply", b"hello")
    assert (one.identity(), b"hello") in two.queries()


def test_an_empty_query(pair: tuple[Any, Any]) -> None:
    """An empty query is answered."""
    one, two = pair
    assert answer(one, one.ask(two.identity(), b"")) == ("reply", b"")


@pytest.mark.parametrize("size", [CAP, CAP + 1, 2 * CAP + 12345])
def test_payloads_of_any_size(pair: tuple[Any, Any], size: int) -> None:
    """Payloads above the cap go in pieces, in both directions."""
    one, two = pair
    ask = one.ask_noise(two.identity(), size, size)
    assert answer(one, ask) == ("reply", brief(noise(size, size)))


def test_many_queries_at_once(pair: tuple[Any, Any]) -> None:
    """Each of many queries has its own answer."""
    one, two = pair
    asks = {one.ask(two.identity(), b"%d" % number): b"%d" % number for number in range(200)}
    assert {ask: answer(one, ask) for ask in asks} == {
        ask: ("reply", payload) for ask, payload in asks.items()
    }


def test_a_query_may_be_parked(pair: tuple[Any, Any]) -> None:
    """A parked query stays open while others are answered."""
    one, two = pair
    parked = one.ask(two.identity(), PARK)
    eventually(two.parked)
    assert answer(one, one.ask(two.identity(), b"meanwhile")) == ("reply", b"meanwhile")
    assert one.answers(parked) == []
    two.release()
    assert answer(one, parked) == ("reply", b"released")


def test_a_refusal_says_why(pair: tuple[Any, Any]) -> None:
    """The asker hears of a failure with the reason."""
    one, two = pair
    assert answer(one, one.ask(two.identity(), REFUSE)) == ("failure", b"not today")


def test_the_first_answer_counts(pair: tuple[Any, Any]) -> None:
    """A second answer is ignored, and so is a refusal after it."""
    one, two = pair
    ask = one.ask(two.identity(), TWICE)
    assert answer(one, ask) == ("reply", TWICE)
    assert answer(one, one.ask(two.identity(), b"after")) == ("reply", b"after")
    assert len(one.answers(ask)) == 1


def test_who_fails_at_a_query_is_asked_on(pair: tuple[Any, Any]) -> None:
    """An error in a callback fails only its own query."""
    one, two = pair
    assert answer(one, one.ask(two.identity(), CRASH))[0] == "failure"
    assert answer(one, one.ask(two.identity(), b"after")) == ("reply", b"after")


def test_asking_nobody_fails(pair: tuple[Any, Any]) -> None:
    """Asking an unknown link or one that does not serve fails, and never from within `ask`."""
    one, two = pair
    for nobody in ("0123456789abcdef", one.identity()):
        kind, why = answer(two, two.ask(nobody, b"hello"))
        assert kind == "failure"
        assert why


def test_who_comes_and_goes_does_not_disturb_others(bench: Bench, pair: tuple[Any, Any]) -> None:
    """Queries between two are answered while a third joins, and while it leaves."""
    one, two = pair
    asks = [one.ask(two.identity(), b"before")]
    third = bench.actor()
    asks += [one.ask(two.identity(), b"while it is here") for _ in range(20)]
    third.close()
    asks += [one.ask(two.identity(), b"after") for _ in range(20)]
    assert {answer(one, ask)[0] for ask in asks} == {"reply"}


def test_roles_are_seen_with_their_info(bench: Bench) -> None:
    """Roles announced before and after are seen; a new announcement replaces the old."""
    early, watcher, late = bench.actor(), bench.actor(), bench.actor()
    early.announce("worker", b"\0early/*")
    watcher.watch()
    late.announce("client")
    mine = {early.identity(), late.identity()}

    def story() -> list[tuple[str, Peer]]:
        return sorted(
            (told for told in watcher.events() if told[1].identity in mine),
            key=lambda told: told[0],
        )

    there = [
        ("appeared", Peer(early.identity(), "worker", b"\0early/*")),
        ("appeared", Peer(late.identity(), "client", b"")),
    ]
    eventually(lambda: len(story()) == 2)
    assert sorted(story(), key=str) == sorted(there, key=str)
    later = b"later" * 9000  # a node may serve hundreds of functions
    early.announce("worker", later)
    again = Peer(early.identity(), "worker", later)
    eventually(lambda: ("appeared", again) in story())
    early.close()
    eventually(lambda: ("gone", again) in story())
    assert [kind for kind, peer in watcher.events() if peer.identity == early.identity()] == [
        "appeared",
        "appeared",
        "gone",
    ]
    assert early.identity() not in watcher.peers()
    late.close()
    watcher.close()


def test_death_is_noticed_and_releases_what_is_parked(bench: Bench) -> None:
    """The death of a peer is noticed by those it asked and by those that asked it."""
    victim, other = bench.actor(), bench.actor()
    victim.serve()
    other.watch()
    victim.announce("worker")
    eventually(lambda: any(peer.identity == victim.identity() for _, peer in other.events()))
    identity = victim.identity()
    parked = other.ask(identity, PARK)
    eventually(victim.parked)
    bench.kill(victim)
    kind, _ = answer(other, parked)
    assert kind == "failure"
    eventually(lambda: ("gone", Peer(identity, "worker", b"")) in other.events())
    assert answer(other, other.ask(identity, b"hello"))[0] == "failure"
    other.close()


def test_a_closed_link_is_silent(bench: Bench) -> None:
    """Earlier queries of a closed link are never answered, and closing twice is no error."""
    asker, other = bench.actor(), bench.actor()
    other.serve()
    other.announce("worker")
    asker.watch()
    eventually(asker.events)
    parked = asker.ask(other.identity(), PARK)
    eventually(other.parked)
    asker.close()
    asker.close()
    other.release()
    assert asker.answers(parked) == []
    other.close()
