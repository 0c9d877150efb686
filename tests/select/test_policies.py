"""The promises of single policies; those of every selector are in tests/laws."""

from __future__ import annotations

import random
from collections import Counter
from itertools import pairwise
from math import inf

import pytest
from hypothesis import given
from hypothesis import strategies as st

from steelyard.select import (
    ConsistentHash,
    LeastInFlight,
    PeakEwma,
    RoundRobin,
    ShortestWait,
    WeightedRandom,
    pace,
    peak,
)
from steelyard.select.consistent_hash import BOUND
from steelyard.select.gauges import BOLD
from steelyard.select.ring import build_ring
from tests.laws.drive import Member, members

KEYS = [b"key %d" % number for number in range(4000)]


# Weighted random.


@given(st.lists(st.floats(0.01, 100), min_size=1, max_size=12))
def test_alias_columns_hold_each_weight(weights: list[float]) -> None:
    """Drawn at every place of the table once, a member comes up as often as its weight says."""
    steps = 20_000
    places = iter((step + 0.5) / steps for step in range(steps))
    rng = random.Random()
    rng.random = lambda: next(places)  # type: ignore[method-assign]
    selector = WeightedRandom(range(len(weights)), weights, rng)
    got = Counter(selector.pick() for _ in range(steps))
    for index, weight in enumerate(weights):
        assert got[index] / steps == pytest.approx(weight / sum(weights), abs=1e-3)


# Round robin.


def test_equal_members_take_turns() -> None:
    """No member comes twice before every member has come once."""
    turns = RoundRobin("abcd", [1] * 4, random.Random(1))
    first = [turns.pick() for _ in range(4)]
    assert sorted(first) == list("abcd")
    assert [turns.pick() for _ in range(4)] == first


def test_turns_are_spread() -> None:
    """The turns of a heavy member are spread, and light members do not come in a bunch."""
    turns = RoundRobin("abc", [5, 1, 1], random.Random(1), size=7)
    order = "".join(turns.pick() for _ in range(14))
    assert "aaaaa" not in order
    assert not any(one == other != "a" for one, other in pairwise(order))


# Least in flight, shortest wait.


def test_greedy_takes_the_one_that_ends_first() -> None:
    """Greedy counts the new request by weight: a slow idle member is not the first to be done."""
    fast, slow = Member("fast", inflight=3), Member("slow")
    pick = LeastInFlight([fast, slow], [10, 1], random.Random(1)).pick
    assert pick() is fast
    fast.inflight = 10
    assert pick() is slow


def test_a_large_fleet_is_looked_at_in_parts() -> None:
    """A pick looks at a few members, and every member has its turn."""
    fleet = members(100)
    selector = ShortestWait(fleet, [1.0] * 100, random.Random(1))
    assert {selector.pick().name for _ in range(100)} == {member.name for member in fleet}


def test_nobody_measured_yet_is_no_preference() -> None:
    """Without measured paces, shortest wait is least in flight."""
    fleet = members(4)
    for member in fleet:
        member.cost = 0.0
    fleet[2].inflight = 5
    pick = ShortestWait(fleet, [1.0] * 4, random.Random(1)).pick
    assert Counter(pick().name for _ in range(300)).keys() == {"m0", "m1", "m3"}


def test_pace_follows() -> None:
    """The first observation counts fully, later ones by their weight and with a limit."""
    assert pace(0.0, 3.0, line=3, weight=0.1) == 1.0
    assert pace(1.0, 4.0, line=2, weight=0.1) == pytest.approx(1.1)
    assert pace(1.0, 1e9, line=1, weight=0.1) == pace(1.0, BOLD, line=1, weight=0.1)
    assert pace(0.0, inf, line=1, weight=1.0) == 0.0


def test_a_weight_counts_once() -> None:
    """A weight that follows the pace adds nothing to the measurement; a lighter one does."""
    fast, slow = Member("fast", inflight=6, cost=0.01), Member("slow", inflight=1, cost=0.04)

    def picked(weight: float) -> set[str]:
        pick = ShortestWait([fast, slow], [weight, 1], random.Random(1)).pick
        return {pick().name for _ in range(64)}

    assert picked(4) == {"fast"}  # 70 ms against 80
    fast.inflight = 8
    assert "slow" in picked(4)  # 90 ms against 80
    assert picked(16) == {"fast"}  # 90 ms against 200


def test_peaks_count_at_once() -> None:
    """A peak counts at once, and fades with time."""
    assert peak(0.1, 2.0, elapsed=0.0) == 2.0
    assert peak(2.0, 0.1, elapsed=0.0) == 2.0
    assert peak(2.0, 0.1, elapsed=1e9) == pytest.approx(0.1)


# Peak EWMA.


@pytest.mark.parametrize(
    ("better", "worse", "weight"),
    [
        ((0, 0.1), (0, 0.2), 1.0),  # slower
        ((0, 0.1), (1, 0.1), 1.0),  # busier: the request to come counts, too
        ((5, 0.01), (0, 0.1), 1.0),  # 60 ms against 100
        ((0, 0.0), (0, 0.001), 1.0),  # nothing is known of the better one
        ((1, 0.0), (2, 0.0), 1.0),  # nor of either, but one has more to do
        ((3, 0.1), (3, 0.1), 0.5),  # half the weight, the same wait
        ((3, 0.1), (2, 0.1), 0.5),  # 400 ms against 600
    ],
)
def test_peak_ewma_takes_the_shorter_wait(
    better: tuple[int, float], worse: tuple[int, float], weight: float
) -> None:
    """Of two different members always the same one; the other only where both slots are its own."""
    one, other = Member("better", *better), Member("worse", *worse)
    pick = PeakEwma([one, other], [1.0, weight], random.Random(1)).pick
    slots = build_ring([one, other], [1.0, weight], random.Random(1))
    doubled = slots + slots  # an odd number of slots is walked twice until pairs repeat
    drawn = [doubled[at : at + 2] for at in range(0, len(doubled), 2)]
    assert [pick().name for _ in drawn] == ["better" if one in pair else "worse" for pair in drawn]


# Consistent hash.


def homes(selector: ConsistentHash[Member]) -> dict[bytes, str]:
    return {key: selector.pick(key).name for key in KEYS}


def test_keys_stay_when_a_member_leaves() -> None:
    """When a member leaves, only its own keys move."""
    fleet = members(10)
    before = homes(ConsistentHash(fleet, [1.0] * 10))
    after = homes(ConsistentHash(fleet[:-1], [1.0] * 9))
    assert all(after[key] == home for key, home in before.items() if home != "m9")


def test_keys_stay_when_a_weight_changes() -> None:
    """A member that becomes lighter gives keys away, and no other key moves."""
    fleet = members(10)
    before = homes(ConsistentHash(fleet, [1.0] * 10))
    after = homes(ConsistentHash(fleet, [0.5, *[1.0] * 9]))
    moved = {before[key] for key in KEYS if before[key] != after[key]}
    assert moved == {"m0"}


def test_balancers_agree() -> None:
    """The home of a key depends neither on the order of the members nor on the generator."""
    fleet = members(5)
    one = ConsistentHash(fleet, [1, 2, 3, 4, 5], random.Random(1))
    other = ConsistentHash(fleet[::-1], [5, 4, 3, 2, 1], random.Random(2))
    assert homes(one) == homes(other)


def test_a_popular_key_is_shared_when_its_member_is_full() -> None:
    """No member gets more than its bound of the requests in flight."""
    fleet = members(4)
    selector = ConsistentHash(fleet, [1.0] * 4)
    for number in range(1, 401):
        selector.pick(b"everybody's favourite").inflight += 1
        assert max(member.inflight for member in fleet) <= BOUND * number / 4 + 1
