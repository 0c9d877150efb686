"""Where units run: child processes, so that whatever a unit does hurts only that unit.

unit       what to run: an importable function by name, packed arguments, limits
outcome    what became of it, exactly one for each ticket
wire       values as bytes: msgpack, with numpy arrays that are not copied where they need not be
pool       the children of a node; units in, outcomes out
"""

from steelyard.mesh.execution.outcome import Failure, Kind, Outcome
from steelyard.mesh.execution.unit import Unit

__all__ = ["Failure", "Kind", "Outcome", "Unit"]
