"""How a unit ended, as its application sees it."""

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
    """A unit has no value. `failure` says what happened in the child, if the unit ran."""

    fault = Fault.APPLICATION
    failure: Failure | None = None


class UnitRaisedError(UnitFailedError):
    """The function raised an exception. Its traceback is in `failure`, and is shown with this
    error.
    """


class RemoteTraceback(Exception):  # noqa: N818 - it is shown by its name
    """The traceback of the exception at the node, like the one of concurrent.futures."""

    def __str__(self) -> str:
        return f"\n{self.args[0]}"


class UnitQuarantinedError(UnitFailedError):
    """The unit hurt every child that tried it: it crashed, hung or took too much memory."""


class UnitRefusedError(UnitFailedError):
    """No node knows the unit's function."""

    fault = Fault.USER


class UnitExpiredError(UnitFailedError):
    """The unit was not done in the time it had."""

    fault = Fault.MACHINE
    retry = True


class UnitCancelledError(UnitFailedError):
    """The unit was cancelled."""

    fault = Fault.USER


_ERRORS: dict[State, tuple[type[UnitFailedError], str]] = {
    State.RAISED: (UnitRaisedError, ""),
    State.QUARANTINED: (UnitQuarantinedError, "look at what it printed (`.output`), run it alone"),
    State.REFUSED: (
        UnitRefusedError,
        "start a node that serves it: steelyard mesh worker module:function",
    ),
    State.EXPIRED: (UnitExpiredError, "give it more time, or add nodes"),
    State.CANCELLED: (UnitCancelledError, ""),
}


@dataclass(frozen=True)
class Answer:
    """The end of one unit. `value` raises if there is none; `error` says why, or is None."""

    key: Any  # the key that it was submitted under
    state: State
    packed: bytes = b""  # the value if DONE, otherwise a Failure, if there was one
    output: str = ""  # what it printed
    seconds: float = 0.0  # time in the function
    node: str = ""  # the identity of the node that ran it
    tries: int = 1
    reason: str = ""
    position: int = 0  # its position in its job

    @classmethod
    def of(cls, key: Any, told: Deliver, position: int = 0) -> Answer:
        """Make an answer from the desk's command."""
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
        """Why there is no value; None if there is one."""
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
    """A key as text for people. The `repr` of an application's object may fail."""
    try:
        return f"{key!r:.100}"
    except Exception:
        return f"<{type(key).__qualname__}>"
