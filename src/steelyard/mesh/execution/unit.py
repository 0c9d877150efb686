"""What a child process is to run."""

from __future__ import annotations

from dataclasses import dataclass

from steelyard.errors import Fault, SteelyardError

LONGEST_NAME = 512  # bytes, of a function


class UnitError(SteelyardError):
    """What was asked for is no unit."""

    fault = Fault.USER


@dataclass(frozen=True, slots=True)
class Unit:
    """A function by its name, never code, and what it is called with.

    `arguments` is what `wire.pack_call` made of them. `deadline` counts from the moment the
    function is called in the child: neither the wait for a child nor the import of the module is
    the unit's. `memory` is what the unit may add to what its child had before it began.
    """

    function: str  # "module:function"
    arguments: bytes
    deadline: float | None = None  # seconds
    memory: int | None = None  # bytes

    def __post_init__(self) -> None:
        if not 0 < len(self.function.encode()) <= LONGEST_NAME:
            raise UnitError(f"a function's name has 1 to {LONGEST_NAME} bytes")
        if not isinstance(self.deadline, float | int | None):
            raise UnitError(f"a deadline of {self.deadline!r} is no number of seconds")
        if not isinstance(self.memory, int | None):  # a client's word, which may be anything
            raise UnitError(f"{self.memory!r} is no whole number of bytes")
        if self.deadline is not None and not self.deadline > 0:
            raise UnitError(
                f"a deadline of {self.deadline} s cannot be met", hint="above 0, or none"
            )
        if self.memory is not None and not 0 < self.memory < 2**62:
            raise UnitError(f"{self.memory} is no number of bytes", hint="above 0, or none")
