"""What became of a unit."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum


class Kind(StrEnum):
    """How a unit ended."""

    __hash__ = str.__hash__  # Enum's own is written in Python, and slow

    VALUE = "value"  # the function returned
    RAISED = "raised"  # it raised, or returned what cannot be sent
    CRASHED = "crashed"  # its child process ended in it: a signal, os._exit
    HUNG = "hung"  # it was not done within its deadline, and its child was killed
    EXCESS = "excess"  # it wanted more memory than it may have
    CANCELLED = "cancelled"
    UNKNOWN = "unknown"  # there is no such function here, or its module cannot be imported


@dataclass(frozen=True, slots=True)
class Failure:
    """Why there is no value."""

    type: str  # the exception's, or of what ended the child: "SIGSEGV", "exit code 3"
    message: str
    traceback: str = ""


@dataclass(frozen=True, slots=True)
class Outcome:
    """The one word about a ticket."""

    ticket: int
    kind: Kind
    value: bytes  # packed: of kind VALUE what was returned, of all others a Failure
    output: bytes  # what the unit printed, on standard output and error, in this order
    seconds: float  # in the function; 0 when it was not called
