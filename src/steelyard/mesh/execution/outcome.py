"""The outcome of a unit."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum


class Kind(StrEnum):
    """How a unit ended."""

    __hash__ = str.__hash__  # Enum's own is written in Python, and slow

    VALUE = "value"  # the function returned
    RAISED = "raised"  # the function raised, or returned a value that cannot be sent
    CRASHED = "crashed"  # the child process ended while the unit ran: a signal, os._exit
    HUNG = "hung"  # the unit exceeded its deadline, and its child was killed
    EXCESS = "excess"  # the unit wanted more memory than it may have
    CANCELLED = "cancelled"
    UNKNOWN = "unknown"  # this node has no such function, or cannot import its module


@dataclass(frozen=True, slots=True)
class Failure:
    """Why there is no value."""

    type: str  # the exception's, or the kind of end: "Crashed", "Hung", "Cancelled"
    message: str
    traceback: str = ""


@dataclass(frozen=True, slots=True)
class Outcome:
    """The single result of a ticket."""

    ticket: int
    kind: Kind
    value: bytes  # packed: the returned value for kind VALUE, a Failure for all others
    output: bytes  # what the unit printed, on standard output and error, in this order
    seconds: float  # in the function; 0 if it was not called
