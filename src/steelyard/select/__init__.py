"""Pick one of n. Each policy is one file, and needs nothing but the standard library.

base           the shape of a selector, what it may know of its members, its error
policies       every policy by its name

unweighted     locked_random, thread_local_random, shuffled_modulo, linked_ring (seed 001)
weighted       weighted_random (alias), weighted_ring (ring), round_robin
by load        ring_of_two, power_of_two, least_in_flight
by time        peak_ewma, shortest_wait (gauges): the balancer's default
by key         consistent_hash

live           any selector, with weights that change while other threads pick
walk, shuffle  the inner loops of picking from and rebuilding a ring, in Python and in C
"""

from steelyard.select.base import Busy, KeyedSelector, Named, Node, SelectError, Selector
from steelyard.select.consistent_hash import ConsistentHash
from steelyard.select.gauges import fade, pace, peak, trust
from steelyard.select.least_in_flight import LeastInFlight
from steelyard.select.linked_ring import LinkedRing
from steelyard.select.live import Live
from steelyard.select.locked_random import LockedRandom
from steelyard.select.peak_ewma import PeakEwma
from steelyard.select.policies import KEYED, POLICIES
from steelyard.select.power_of_two import PowerOfTwo
from steelyard.select.ring import apportion, build_ring
from steelyard.select.ring_of_two import RingOfTwo
from steelyard.select.round_robin import RoundRobin
from steelyard.select.shortest_wait import ShortestWait
from steelyard.select.shuffled_modulo import ShuffledModulo
from steelyard.select.thread_local_random import ThreadLocalRandom
from steelyard.select.weighted_random import WeightedRandom
from steelyard.select.weighted_ring import WeightedRing

__all__ = [
    "KEYED",
    "POLICIES",
    "Busy",
    "ConsistentHash",
    "KeyedSelector",
    "LeastInFlight",
    "LinkedRing",
    "Live",
    "LockedRandom",
    "Named",
    "Node",
    "PeakEwma",
    "PowerOfTwo",
    "RingOfTwo",
    "RoundRobin",
    "SelectError",
    "Selector",
    "ShortestWait",
    "ShuffledModulo",
    "ThreadLocalRandom",
    "WeightedRandom",
    "WeightedRing",
    "apportion",
    "build_ring",
    "fade",
    "pace",
    "peak",
    "trust",
]
