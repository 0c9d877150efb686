"""Where units run: child processes, so that whatever a unit does hurts only that unit.

unit       what to run: an importable function by name, packed arguments, limits
outcome    what became of it, exactly one for each ticket
wire       values as bytes: msgpack, with numpy arrays that are not copied where they need not be
pool       the children of a node; units in, outcomes out

What a pool is made of: dealer (pure: who gets what, who is to blame), keeper (does what it says),
brood (the processes as the pool holds them), nursery (forks them), child (runs units); orders and
parcel (what they say to each other), slots (what each is at), functions, capture, allowance.
"""

from steelyard.mesh.execution.outcome import Failure, Kind, Outcome
from steelyard.mesh.execution.unit import Unit

__all__ = ["Failure", "Kind", "Outcome", "Unit"]
