"""The base of all errors: whose fault it is, what to do next, and whether a retry helps."""

from __future__ import annotations

from enum import StrEnum


class Fault(StrEnum):
    """The party that can fix the error."""

    USER = "user"  # the configuration or the command line
    APPLICATION = "application"  # the program that the user wants served
    MACHINE = "machine"  # a port, a disk, a missing right
    PEER = "peer"  # another program at the other end of a connection
    STEELYARD = "steelyard"  # a bug of ours


class SteelyardError(Exception):
    """An error for people: it says what happened, and what to do next."""

    fault: Fault = Fault.STEELYARD
    retry: bool = False

    def __init__(self, message: str, *, hint: str = "") -> None:
        super().__init__(message)
        self.message = message
        self.hint = hint

    def __str__(self) -> str:
        return f"{self.message}\n  → {self.hint}" if self.hint else self.message


class UsageError(SteelyardError):
    """The command line or the configuration asks for something impossible."""

    fault = Fault.USER


class MalformedError(SteelyardError):
    """A message from another program does not have the agreed form."""

    fault = Fault.PEER


class StartError(SteelyardError):
    """A worker could not be started."""

    fault = Fault.APPLICATION
    retry = True


class StoreError(SteelyardError):
    """The store cannot be read or written now."""

    fault = Fault.MACHINE
    retry = True
