"""Runs units in child processes, so that a unit can harm nothing but itself.

unit       what to run: an importable function by name, packed arguments, limits
outcome    the result of a unit, exactly one for each ticket
wire       values as bytes: msgpack, with numpy arrays that are copied as little as possible
pool       the children of a node; units go in, outcomes come out

A pool consists of: dealer (pure: assigns units to children, and blame), keeper (carries out what
the dealer decides), brood (the child processes as the pool sees them), nursery (forks them), child
(runs units), orders and parcel (their messages), slots (which unit each child runs), functions,
capture, allowance.
"""

from steelyard.mesh.execution.outcome import Failure, Kind, Outcome
from steelyard.mesh.execution.unit import Unit

__all__ = ["Failure", "Kind", "Outcome", "Unit"]
