"""Pick one of n; one policy per file, none needs anything but the standard library.

ring           weights → a shuffled sequence of slots
weighted_ring  walks a ring: the balancer's default
"""

from steelyard.select.ring import RingError, apportion, build_ring
from steelyard.select.weighted_ring import WeightedRing

__all__ = ["RingError", "WeightedRing", "apportion", "build_ring"]
