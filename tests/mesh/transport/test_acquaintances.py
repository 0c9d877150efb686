from __future__ import annotations

from itertools import pairwise

import pytest

from steelyard.mesh.transport.acquaintances import (
    FIRST_PAUSE,
    FORGET,
    GRACE,
    LONGEST_PAUSE,
    MOST,
    MOST_DOUBLINGS,
    REMEMBERED,
    SECOND,
    STEADY,
    Acquaintances,
)

A, B, C = ("tcp/a:1",), ("tcp/b:1",), ("tcp/c:1",)


def due(known: Acquaintances, now: float) -> list[str]:
    return [one.identity for one in known.due(now)]


def test_who_is_lost_is_tried_again_and_again() -> None:
    """A lost node is tried again, after pauses that grow up to a second."""
    known = Acquaintances("me")
    known.appear("a", A, 0.0)
    known.vanish("a", 100.0)
    assert due(known, 100.0) == []
    assert known.next_due() == 100.0 + FIRST_PAUSE + SECOND  # "me" is the second of the two
    times = []
    now = 100.0
    while len(times) < 8:
        now = known.next_due() or 0.0
        assert due(known, now) == ["a"]
        times.append(now)
    pauses = [later - earlier for earlier, later in pairwise(times)]
    assert pauses == sorted(pauses)
    assert pauses[-1] == LONGEST_PAUSE
    known.appear("a", A, 0.0)
    assert known.next_due() is None
    assert known.missing == []


def test_who_said_good_bye_is_not_tried() -> None:
    """A node that said good-bye is not tried, whatever neighbours still believe."""
    known = Acquaintances("me")
    known.appear("a", A, 0.0)
    known.leave("a")
    known.vanish("a", 1.0)
    known.hear("a", A, 2.0)
    assert due(known, 99.0) == []
    known.appear("b", B, 0.0)
    known.vanish("b", 1.0)
    known.leave("b")
    assert due(known, 99.0) == []


def test_of_two_who_lost_each_other_one_tries_first() -> None:
    """Of two nodes that lost each other one tries first, or both would do the same work."""
    one, two = Acquaintances("one"), Acquaintances("two")
    one.appear("two", A, 0.0)
    two.appear("one", B, 0.0)
    one.vanish("two", 100.0)
    two.vanish("one", 100.0)
    assert (one.next_due(), two.next_due()) == (100 + FIRST_PAUSE, 100 + FIRST_PAUSE + SECOND)


def test_a_link_that_does_not_hold_is_given_more_time() -> None:
    """Each link that does not hold doubles the pause, up to a limit, until one holds."""
    known, now, pauses = Acquaintances("a"), 0.0, []
    for _ in range(8):
        known.appear("b", B, now)
        now += 1.0
        known.vanish("b", now)
        pauses.append((known.next_due() or 0.0) - now)
    assert pauses[:3] == pytest.approx([FIRST_PAUSE, 2 * FIRST_PAUSE, 4 * FIRST_PAUSE])
    assert pauses[-1] == pytest.approx(2**MOST_DOUBLINGS * FIRST_PAUSE)
    known.appear("b", B, now)
    now += STEADY + 1
    known.vanish("b", now)
    assert known.next_due() == pytest.approx(now + FIRST_PAUSE)


def test_not_all_that_ever_said_good_bye_are_remembered() -> None:
    """Only a limited number of good-byes is remembered, as clients come and go for years."""
    known = Acquaintances("me")
    for number in range(REMEMBERED + 1):
        known.leave(f"n{number}")
    for number in (0, 1):
        known.hear(f"n{number}", (f"tcp/n:{number}",), 0.0)
    assert known.missing == ["n0"]


def test_whom_a_neighbour_sees_is_tried_after_a_moment() -> None:
    """A node that a neighbour sees is tried, unless it is ourselves, linked, or without an
    address.
    """
    known = Acquaintances("me")
    known.appear("a", A, 0.0)
    for identity, locators in (("a", A), ("b", B), ("me", C), ("mute", ())):
        known.hear(identity, locators, 5.0)
    assert due(known, 5.0) == []
    assert due(known, 5.0 + GRACE) == ["b"]


def test_while_nodes_come_nobody_is_missing() -> None:
    """A node that is only heard of is not tried until no link was made for a while."""
    known = Acquaintances("me")
    known.hear("b", B, 5.0)
    known.appear("a", A, 5.9)
    assert not known.settled(6.0)
    assert due(known, 6.1) == []
    assert due(known, 5.9 + GRACE) == ["b"]
    assert known.settled(7.0)


def test_a_successor_takes_the_place_of_who_died() -> None:
    """A node with the locators of a lost one is its successor, so the lost one is not tried."""
    known = Acquaintances("me")
    known.appear("a", A, 0.0)
    known.vanish("a", 1.0)
    known.appear("a2", A, 0.0)
    assert known.missing == []
    known.hear("a", A, 2.0)
    assert due(known, 99.0) == []


def test_who_listens_everywhere_is_not_taken_for_another() -> None:
    """Nodes that listen everywhere have loopback in common, and are not mistaken for each other."""
    known = Acquaintances("me")
    known.appear("a", (*A, "tcp/127.0.0.1:1"), 0.0)
    known.vanish("a", 1.0)
    known.appear("b", (*B, "tcp/127.0.0.1:1"), 2.0)
    assert known.missing == ["a"]
    known.appear("a2", ("tcp/127.0.0.1:1", *A), 3.0)
    assert known.missing == []


def test_not_all_are_tried_at_once() -> None:
    """Only some nodes are tried at a time, beginning with those that waited longest."""
    known = Acquaintances("me")
    for number in range(3 * MOST):
        known.appear(f"n{number}", (f"tcp/n:{number}",), 0.0)
        known.vanish(f"n{number}", 100 + number / 100)
    tried = [one for _ in range(3) for one in due(known, 102.0)]
    assert sorted(tried) == sorted(f"n{number}" for number in range(3 * MOST))


def test_who_is_lost_for_long_is_forgotten() -> None:
    """A node that is lost for long is not tried, until a neighbour sees it again."""
    known = Acquaintances("me")
    known.appear("a", A, 0.0)
    known.vanish("a", 0.0)
    assert due(known, FORGET + 1) == []
    assert known.missing == []
    known.hear("a", A, FORGET + 2)
    assert due(known, FORGET + 2 + GRACE) == ["a"]


def test_the_digest_is_of_what_is_seen() -> None:
    """Two nodes have the same digest if they see the same nodes, and another one if not."""
    one, two = Acquaintances("one"), Acquaintances("two")
    one.appear("two", A, 0.0)
    two.appear("one", B, 0.0)
    assert one.digest() == two.digest()
    one.appear("c", C, 0.0)
    assert one.digest() != two.digest()
    two.appear("c", C, 0.0)
    assert one.digest() == two.digest()
