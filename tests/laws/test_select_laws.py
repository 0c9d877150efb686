"""What every selector promises, whatever its policy. A new selector joins SELECTORS."""

from __future__ import annotations

import random
import threading
from collections import Counter
from collections.abc import Callable, Sequence
from typing import Protocol

import pytest

from steelyard.select import WeightedRing


class Selector(Protocol):
    """The one thing a selector does."""

    @property
    def pick(self) -> Callable[[], str]: ...


Make = Callable[[Sequence[str], Sequence[float], random.Random], Selector]

SELECTORS: dict[str, Make] = {"weighted ring": WeightedRing}
PICKS = 20_000


@pytest.fixture(params=SELECTORS.values(), ids=SELECTORS.keys())
def make(request: pytest.FixtureRequest) -> Make:
    """Each selector in turn."""
    selector: Make = request.param
    return selector


def shares(selector: Selector, picks: int = PICKS) -> dict[str, float]:
    """The part of the picks that each member got."""
    counts = Counter(selector.pick() for _ in range(picks))
    return {member: count / picks for member, count in counts.items()}


@pytest.mark.parametrize("weights", [(1, 1, 1), (1, 2, 3), (50, 30, 20), (0.1, 0.1, 0.8)])
def test_fair_share(make: Make, weights: tuple[float, ...]) -> None:
    """Each member gets its weight's part of the picks, within two hundredths."""
    members = ["a", "b", "c"]
    got = shares(make(members, weights, random.Random(7)))
    for member, weight in zip(members, weights, strict=True):
        assert got[member] == pytest.approx(weight / sum(weights), abs=0.02)


def test_no_starvation(make: Make) -> None:
    """The lightest of many members is picked too."""
    members = [str(number) for number in range(50)]
    got = shares(make(members, [1e-6, *[1.0] * 49], random.Random(7)))
    assert set(got) == set(members)


def test_zero_among_others_gets_nothing(make: Make) -> None:
    """A weight of 0 beside others means: nothing for me."""
    assert set(shares(make(["a", "b"], [0.0, 1.0], random.Random(7)), 1000)) == {"b"}


def test_one_member(make: Make) -> None:
    """One member gets everything."""
    assert shares(make(["a"], [3.0], random.Random(7)), 100) == {"a": 1.0}


def test_none(make: Make) -> None:
    """No member is an error that says so."""
    with pytest.raises(ValueError, match="at least one member"):
        make([], [], random.Random(7))


def test_all_weights_zero(make: Make) -> None:
    """All weights 0 is no preference: equal shares."""
    got = shares(make(["a", "b", "c", "d"], [0.0] * 4, random.Random(7)))
    assert all(share == pytest.approx(0.25, abs=0.02) for share in got.values())
    assert len(got) == 4


def test_same_seed_same_picks(make: Make) -> None:
    """With the same seed the picks repeat."""
    first = make(["a", "b", "c"], [1.0, 2.0, 3.0], random.Random(3))
    second = make(["a", "b", "c"], [1.0, 2.0, 3.0], random.Random(3))
    assert [first.pick() for _ in range(500)] == [second.pick() for _ in range(500)]


def test_picks_from_many_threads(make: Make) -> None:
    """Eight threads picking at once share as fairly as one: no slot is lost or taken twice."""
    selector = make(["a", "b", "c", "d"], [1.0, 1.0, 2.0, 4.0], random.Random(5))
    start = threading.Barrier(8)
    counts: list[Counter[str]] = []

    def work() -> None:
        start.wait()
        counts.append(Counter(selector.pick() for _ in range(8_000)))

    threads = [threading.Thread(target=work) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    total = sum(counts, Counter())
    assert total == {"a": 8_000, "b": 8_000, "c": 16_000, "d": 32_000}
