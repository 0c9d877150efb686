"""What every selector promises, whatever its policy; a new one joins through the registry."""

from __future__ import annotations

import random
import sys
import threading
import time
from collections import Counter
from collections.abc import Iterator
from types import SimpleNamespace

import pytest

from steelyard.select import KEYED, POLICIES, Live, SelectError
from tests.laws.drive import NAMES, UNWEIGHTED, Member, members, picker, shares

EXACT_IN_THREADS = {"weighted_ring", "round_robin", "shuffled_modulo"}  # no slot is taken twice


@pytest.fixture(params=NAMES)
def policy(request: pytest.FixtureRequest) -> str:
    """Each policy in turn."""
    name: str = request.param
    return name


@pytest.fixture
def hectic() -> Iterator[None]:
    """Let threads be switched as often as possible."""
    usual = sys.getswitchinterval()
    sys.setswitchinterval(1e-6)
    yield
    sys.setswitchinterval(usual)


@pytest.mark.parametrize("weights", [(1, 1, 1), (1, 2, 3), (50, 30, 20), (0.1, 0.1, 0.8)])
def test_fair_share(policy: str, weights: tuple[float, ...]) -> None:
    """Under load each member gets its weight's part of the picks, within two hundredths."""
    if policy in UNWEIGHTED:
        weights = (1, 1, 1)
    got = shares(picker(policy, members(3), weights))
    for number, weight in enumerate(weights):
        assert got[f"m{number}"] == pytest.approx(weight / sum(weights), abs=0.02)


def test_no_starvation(policy: str) -> None:
    """The lightest of many members is picked too."""
    least = 1e-6 if policy in {"weighted_ring", "round_robin"} else 1e-2
    got = shares(picker(policy, members(20), [least, *[1.0] * 19]), at_once=4000)
    assert len(got) == 20


def test_zero_among_others_gets_nothing(policy: str) -> None:
    """A member of weight 0 beside others gets nothing."""
    assert set(shares(picker(policy, members(2), [0.0, 1.0]), 1000)) == {"m1"}


def test_one_member(policy: str) -> None:
    """One member gets everything."""
    assert shares(picker(policy, members(1), [3.0]), 100) == {"m0": 1.0}


def test_none(policy: str) -> None:
    """A selector without members raises an error that says so."""
    with pytest.raises(SelectError, match="at least one member"):
        picker(policy, [], [])


@pytest.mark.parametrize("weight", [-1.0, float("nan"), float("inf")])
def test_weights_that_cannot_be(policy: str, weight: float) -> None:
    """The error names a wrong weight."""
    with pytest.raises(SelectError, match=f"not {weight!r}"):
        picker(policy, members(2), [1.0, weight])


def test_members_and_weights_must_match(policy: str) -> None:
    """A missing weight is an error, and not guessed."""
    with pytest.raises(SelectError, match="2 members but 1 weights"):
        picker(policy, members(2), [1.0])


def test_huge_and_tiny_weights(policy: str) -> None:
    """The largest and the smallest floats are weights, too."""
    got = shares(picker(policy, members(3), [1e308, 1e308, 5e-324]), 1000)
    assert got["m0"] > 0.3
    assert got["m1"] > 0.3


def test_all_weights_zero(policy: str) -> None:
    """If all weights are 0, shares are equal."""
    got = shares(picker(policy, members(4), [0.0] * 4))
    assert all(share == pytest.approx(0.25, abs=0.02) for share in got.values())
    assert len(got) == 4


def test_addition_and_removal(policy: str) -> None:
    """A selector with new members shares among them, although old picks are still in flight."""
    first = members(3)
    shares(picker(policy, first, [1.0] * 3), 500)
    grown = [*first, Member("new")]
    got = shares(picker(policy, grown, [1.0] * 4))
    assert got["new"] == pytest.approx(0.25, abs=0.02)
    got = shares(picker(policy, grown[1:], [1.0] * 3))
    assert sorted(got) == ["m1", "m2", "new"]
    assert got["m1"] == pytest.approx(1 / 3, abs=0.02)


def test_same_seed_same_picks(policy: str) -> None:
    """With the same seed the picks repeat."""
    first, second = (picker(policy, members(3), [1.0, 2.0, 3.0], seed=3) for _ in range(2))
    assert [first().name for _ in range(500)] == [second().name for _ in range(500)]


@pytest.mark.usefixtures("hectic")
def test_picks_from_many_threads(policy: str) -> None:
    """Eight threads picking at once share as fairly as one."""
    weights = [1.0] * 4 if policy in UNWEIGHTED else [1.0, 1.0, 2.0, 4.0]
    among = members(4)
    pick = picker(policy, among, weights)
    start, lock = threading.Barrier(8), threading.Lock()
    counts: list[Counter[str]] = []

    def work() -> None:
        start.wait()
        counts.append(Counter(hold() for _ in range(800)))

    def hold() -> str:
        """Pick and keep the request open, counted as a program with threads would count it."""
        member = pick()
        with lock:
            member.inflight += 1
        return member.name

    threads = [threading.Thread(target=work) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    total = sum(counts, Counter())
    expected = {f"m{index}": 6400 * weight / sum(weights) for index, weight in enumerate(weights)}
    slack = 0 if policy in EXACT_IN_THREADS else 200
    assert total == pytest.approx(expected, abs=slack)


@pytest.mark.usefixtures("hectic")
def test_weights_change_while_threads_pick(policy: str) -> None:
    """A pick goes by the weights of its moment: a member with weight 0 is not picked in any
    thread.
    """
    among = members(4)
    sides = [[1.0, 2.0, 0.0, 0.0], [0.0, 0.0, 2.0, 1.0]]
    live = Live({**POLICIES, **KEYED}[policy], among, sides[0])
    key = [b"key"] if policy in KEYED else []
    changes = 0  # odd while an update is under way
    seen = [0] * 4  # the last count of changes at which each thread has picked
    strays: list[tuple[int, str]] = []

    def work(number: int) -> None:
        while seen[number] < 16:
            before = changes
            member = live.pick(*key)
            if changes == before and before % 2 == 0:
                if not sides[before // 2 % 2][among.index(member)]:
                    strays.append((before, member.name))
                seen[number] = before

    threads = [threading.Thread(target=work, args=(number,)) for number in range(4)]
    for thread in threads:
        thread.start()
    for turn in range(1, 9):
        changes += 1
        live.update(among, sides[turn % 2])
        changes += 1
        while min(seen) < changes:
            time.sleep(0)  # until every thread has picked by these weights
    for thread in threads:
        thread.join()
    assert strays == []


def test_a_generator_is_optional(policy: str) -> None:
    """A selector needs only members and weights."""
    make = {**POLICIES, **KEYED}[policy]
    member = Member("only")
    key = [b"key"] if policy in KEYED else []
    assert make([member], [1.0]).pick(*key) is member


@pytest.mark.parametrize("policy", ["ring_of_two", "power_of_two", "least_in_flight"])
def test_the_busy_are_spared(policy: str) -> None:
    """A member with more in flight is picked less: only when no other is drawn."""
    among = members(4)
    among[0].inflight = 1000
    pick = picker(policy, among, [1.0] * 4)
    got = Counter(pick().name for _ in range(4000))
    assert got["m0"] < 400


@pytest.mark.parametrize("policy", ["peak_ewma", "shortest_wait"])
def test_the_slow_are_spared(policy: str) -> None:
    """A slower member is picked less, even if it has no more in flight than the others."""
    among = members(4)
    among[0].cost = 1.0
    pick = picker(policy, among, [1.0] * 4)
    got = Counter(pick().name for _ in range(4000))
    assert got["m0"] < 400


def test_members_need_no_more_than_their_policy_asks() -> None:
    """Members need only the attributes that their policy asks for."""
    rng = random.Random(1)
    for name in (*UNWEIGHTED, "weighted_random", "weighted_ring", "round_robin"):
        assert POLICIES[name](["a"], [1], rng).pick() == "a"
    busy = SimpleNamespace(inflight=1)
    for name in ("ring_of_two", "power_of_two", "least_in_flight"):
        assert POLICIES[name]([busy], [1], rng).pick() is busy
