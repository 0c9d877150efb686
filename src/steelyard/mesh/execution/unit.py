"""What a child process is to run."""

from __future__ import annotations

from dataclasses import dataclass


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
