"""What became of a unit, as its application sees it."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

from steelyard.errors import Fault, SteelyardError
from steelyard.mesh.execution.outcome import Failure
from steelyard.mesh.execution.wire import unpack, unpack_failure
from steelyard.mesh.protocol.desk_events import Deliver
from steelyard.mesh.protocol.lifecycle import State


class UnitFailedError(SteelyardError):
    """A unit has no value. `failure` says what happened in the child, where anything did."""

    fault = Fault.APPLICATION
    failure: Failure | None = None


class UnitRaisedError(UnitFailedError):
    """The function raised an exception; its traceback is in `failure`, and shown with this one."""


class RemoteTraceback(Exception):  # noqa: N818 - it is shown by its name
    """Where it was raised, at the node; as that of concurrent.futures."""

    def __str__(self) -> str:
        return f"\n{self.args[0]}"


class UnitQuarantinedError(UnitFailedError):
    """It hurt every child that tried it: crashed, hung or took too much memory."""


class UnitRefusedError(UnitFailedError):
    """No node knows its function."""

    fault = Fault.USER


class UnitExpiredError(UnitFailedError):
    """It was not done in the time it had."""

    fault = Fault.MACHINE
    retry = True


class UnitCancelledError(UnitFailedError):
    """Nobody wanted it any more."""

    fault = Fault.USER


_ERRORS: dict[State, tuple[type[UnitFailedError], str]] = {
    State.RAISED: (UnitRaisedError, ""),
    State.QUARANTINED: (UnitQuarantinedError, "look at what it printed (`.output`), run it alone"),
    State.REFUSED: (
        UnitRefusedError,
        "it takes a node of this mesh for it: steelyard mesh worker module:function",
    ),
    State.EXPIRED: (UnitExpiredError, "give it more time, or add nodes"),
    State.CANCELLED: (UnitCancelledError, ""),
}


@dataclass(frozen=True)
class Answer:
    """One unit's end. `value` raises where there is none; `error` says why, or is None."""

    key: Any  # what it was submitted under
    state: State
    packed: bytes = b""  # of DONE the value, of others a Failure, if there was one
    output: str = ""  # what it printed
    seconds: float = 0.0  # in the function
    node: str = ""  # the identity of who ran it
    tries: int = 1
    reason: str = ""
    position: int = 0  # in its job

    @classmethod
    def of(cls, key: Any, told: Deliver, position: int = 0) -> Answer:
        """From what the desk says."""
        result = told.result
        tries = told.hurts + (told.state is not State.QUARANTINED)
        if result is None:
            return cls(key, told.state, tries=told.hurts, reason=told.reason, position=position)
        output = result.output.decode(errors="replace") if result.output else ""
        return cls(
            key, told.state, result.value, output, result.seconds,
            told.node, tries, told.reason, position,
        )  # fmt: skip

    @property
    def ok(self) -> bool:
        """Whether there is a value."""
        return self.state is State.DONE

    @cached_property
    def value(self) -> Any:
        """What the function returned."""
        if self.error is not None:
            raise self.error
        return unpack(self.packed)

    @cached_property
    def error(self) -> UnitFailedError | None:
        """Why there is no value."""
        if self.ok:
            return None
        kind, hint = _ERRORS[self.state]
        failure = unpack_failure(self.packed) if self.packed else None
        error = kind(self._sentence(failure), hint=hint)
        error.failure = failure
        if failure is not None and failure.traceback:
            error.__cause__ = RemoteTraceback(failure.traceback)
        return error

    def _sentence(self, failure: Failure | None) -> str:
        verb = "raised" if self.state is State.RAISED else f"is {self.state.lower()}"
        parts = [f"unit {_shown(self.key)} {verb}"]
        if self.state is State.QUARANTINED and self.tries:
            parts.append("after one try" if self.tries == 1 else f"after {self.tries} tries")
        detail = self.reason or (f"{failure.type}: {failure.message}" if failure else "")
        return " ".join(parts) + (f": {detail}" if detail else "")


def _shown(key: Any) -> str:
    """What a key is for people; one of the application's may fail even in that."""
    try:
        return f"{key!r:.100}"
    except Exception:
        return f"<{type(key).__qualname__}>"
