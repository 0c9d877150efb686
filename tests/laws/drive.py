"""Drives any selector as a busy program would: requests begin, stay open a while, and end."""

from __future__ import annotations

import random
from collections import Counter, deque
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import count
from typing import Any

from steelyard.select import KEYED, POLICIES

OPEN = 96  # requests in flight at any time: enough for the least weight's share to show


@dataclass(eq=False)
class Member:
    """A member to pick, with everything that any policy may ask for."""

    name: str
    inflight: int = 0
    cost: float = 0.01


Pick = Callable[[], Member]
NAMES = (*POLICIES, *KEYED)
UNWEIGHTED = {"locked_random", "thread_local_random", "shuffled_modulo", "linked_ring"}


def members(many: int) -> list[Member]:
    return [Member(f"m{number}") for number in range(many)]


def picker(name: str, among: Sequence[Member], weights: Sequence[float], seed: int = 7) -> Pick:
    """The `pick` of a new selector; a policy with keys gets another key each time."""
    if name in POLICIES:
        pick: Pick = POLICIES[name](among, weights, random.Random(seed)).pick
        return pick
    keyed: Any = KEYED[name](among, weights, random.Random(seed))
    keys = count()
    return lambda: keyed.pick(b"key %d" % next(keys))


def shares(pick: Pick, picks: int = 20_000, at_once: int = OPEN) -> dict[str, float]:
    """The share of the picks that each member got."""
    counts: Counter[str] = Counter()
    open_now: deque[Member] = deque()
    for _ in range(picks):
        member = pick()
        member.inflight += 1
        open_now.append(member)
        counts[member.name] += 1
        if len(open_now) > at_once:
            open_now.popleft().inflight -= 1
    for member in open_now:
        member.inflight -= 1
    return {name: count / picks for name, count in counts.items()}
