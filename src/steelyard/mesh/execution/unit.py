"""A unit: what a child process is to run."""

from __future__ import annotations

from dataclasses import dataclass

from steelyard.errors import Fault, SteelyardError

LONGEST_NAME = 512  # bytes of a function's name


class UnitError(SteelyardError):
    """The request does not describe a unit."""

    fault = Fault.USER


@dataclass(frozen=True, slots=True)
class Unit:
    """A function by its name, never code, and its arguments.

    `arguments` were packed by `wire.pack_call`. `deadline` counts from the moment the function is
    called in the child: neither the wait for a child nor the import of the module counts. `memory`
    limits what the unit may add to the memory that its child had before.
    """

    function: str  # "module:function"
    arguments: bytes
    deadline: float | None = None  # seconds
    memory: int | None = None  # bytes

    def __post_init__(self) -> None:
        if not 0 < len(self.function.encode()) <= LONGEST_NAME:
            raise UnitError(f"a function's name has 1 to {LONGEST_NAME} bytes")
        if not isinstance(self.deadline, float | int | None):
            raise UnitError(f"a deadline of {self.deadline!r} is not a number of seconds")
        if not isinstance(self.memory, int | None):  # the client sent it, so it may be anything
            raise UnitError(f"{self.memory!r} is not a whole number of bytes")
        if self.deadline is not None and not self.deadline > 0:
            raise UnitError(
                f"a deadline of {self.deadline} s cannot be met", hint="above 0, or none"
            )
        if self.memory is not None and not 0 < self.memory < 2**62:
            raise UnitError(f"{self.memory} is not a number of bytes", hint="above 0, or none")
