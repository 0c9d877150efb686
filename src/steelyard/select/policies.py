"""Every policy by its name, for programs that choose one by configuration.

>>> import random
>>> from types import SimpleNamespace as Member
>>> members = [Member(name=name, inflight=0, cost=0.0) for name in "abc"]
>>> POLICIES["least_in_flight"](members, [1, 2, 3], random.Random(1)).pick() in members
True
"""

from __future__ import annotations

import random
from collections.abc import Mapping, Sequence
from types import MappingProxyType
from typing import Any, Protocol

from steelyard.select.base import Selector
from steelyard.select.consistent_hash import ConsistentHash
from steelyard.select.least_in_flight import LeastInFlight
from steelyard.select.linked_ring import LinkedRing
from steelyard.select.locked_random import LockedRandom
from steelyard.select.peak_ewma import PeakEwma
from steelyard.select.power_of_two import PowerOfTwo
from steelyard.select.ring_of_two import RingOfTwo
from steelyard.select.round_robin import RoundRobin
from steelyard.select.shortest_wait import ShortestWait
from steelyard.select.shuffled_modulo import ShuffledModulo
from steelyard.select.thread_local_random import ThreadLocalRandom
from steelyard.select.weighted_random import WeightedRandom
from steelyard.select.weighted_ring import WeightedRing


class Factory(Protocol):
    """Makes a selector. What its members must know depends on the policy (`base`)."""

    def __call__(
        self, members: Sequence[Any], weights: Sequence[float], rng: random.Random | None = None, /
    ) -> Selector[Any]: ...


POLICIES: Mapping[str, Factory] = MappingProxyType(
    {
        "locked_random": LockedRandom,
        "thread_local_random": ThreadLocalRandom,
        "shuffled_modulo": ShuffledModulo,
        "linked_ring": LinkedRing,
        "weighted_random": WeightedRandom,
        "weighted_ring": WeightedRing,
        "ring_of_two": RingOfTwo,
        "round_robin": RoundRobin,
        "least_in_flight": LeastInFlight,
        "power_of_two": PowerOfTwo,
        "peak_ewma": PeakEwma,
        "shortest_wait": ShortestWait,
    }
)
# The `pick` of these takes a key, so they are kept apart.
KEYED = MappingProxyType({"consistent_hash": ConsistentHash})
