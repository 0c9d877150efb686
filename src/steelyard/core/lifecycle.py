"""The life of a worker, as a table.

A worker boots (INIT), then serves with a utilization that is low, medium or high (LU, MU, HU), and
leaves in two steps: in SUNDOWN it gets no new request and finishes the old ones, in SHUTDOWN it is
being stopped. Utilization moves a worker between LU, MU and HU. The policy of the paper retires a
worker from LU only; a policy that follows a target retires any worker whose load the others can
carry. An operator may drain a worker that boots or serves, and a worker may die at any time. No
worker comes back from SUNDOWN or SHUTDOWN.

The figure in docs/architecture.md is drawn from TABLE.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from enum import StrEnum

from steelyard.errors import SteelyardError


class State(StrEnum):
    INIT = "INIT"
    LU = "LU"
    MU = "MU"
    HU = "HU"
    SUNDOWN = "SUNDOWN"
    SHUTDOWN = "SHUTDOWN"


class Signal(StrEnum):
    READY = "ready"  # the first successful probe
    OVER_LOW = "U ≥ low"
    UNDER_LOW = "U < low"
    OVER_HIGH = "U ≥ high"
    UNDER_HIGH = "U < high"
    RETIRE = "retired by the policy"
    SURPLUS = "more than the target needs"
    DRAIN = "drained by an operator"
    EMPTY = "C(t) = 0"  # no open exchange at any balancer
    DEADLINE = "drain deadline"
    FAILED = "boot or liveness failed"
    DIED = "died"


SERVING = frozenset({State.LU, State.MU, State.HU})
LEAVING = frozenset({State.SUNDOWN, State.SHUTDOWN})

TABLE: dict[tuple[State, Signal], State] = {
    (State.INIT, Signal.READY): State.LU,
    (State.LU, Signal.OVER_LOW): State.MU,
    (State.MU, Signal.UNDER_LOW): State.LU,
    (State.MU, Signal.OVER_HIGH): State.HU,
    (State.HU, Signal.UNDER_HIGH): State.MU,
    (State.LU, Signal.RETIRE): State.SUNDOWN,
    (State.LU, Signal.SURPLUS): State.SUNDOWN,
    (State.MU, Signal.SURPLUS): State.SUNDOWN,
    (State.HU, Signal.SURPLUS): State.SUNDOWN,
    (State.INIT, Signal.DRAIN): State.SUNDOWN,
    (State.LU, Signal.DRAIN): State.SUNDOWN,
    (State.MU, Signal.DRAIN): State.SUNDOWN,
    (State.HU, Signal.DRAIN): State.SUNDOWN,
    (State.SUNDOWN, Signal.EMPTY): State.SHUTDOWN,
    (State.SUNDOWN, Signal.DEADLINE): State.SHUTDOWN,
    (State.INIT, Signal.FAILED): State.SHUTDOWN,
    (State.LU, Signal.FAILED): State.SHUTDOWN,
    (State.MU, Signal.FAILED): State.SHUTDOWN,
    (State.HU, Signal.FAILED): State.SHUTDOWN,
    (State.INIT, Signal.DIED): State.SHUTDOWN,
    (State.LU, Signal.DIED): State.SHUTDOWN,
    (State.MU, Signal.DIED): State.SHUTDOWN,
    (State.HU, Signal.DIED): State.SHUTDOWN,
    (State.SUNDOWN, Signal.DIED): State.SHUTDOWN,
}


class IllegalTransitionError(SteelyardError):
    """A signal came in a state that has no transition for it: a bug, reported with its history."""


def transition(state: State, signal: Signal, history: Iterable[str] = ()) -> State:
    """The next state; a pair that is not in the table raises and changes nothing."""
    try:
        return TABLE[state, signal]
    except KeyError:
        story = " → ".join(history) or "no history"
        raise IllegalTransitionError(
            f"a worker in {state} knows no signal “{signal}” ({story})"
        ) from None


@dataclass(frozen=True, slots=True)
class Cuts:
    """The utilization in percent at which the state of a worker changes.

    On the way down the utilization must fall below the cut by more than `hysteresis`.
    """

    low: float = 30.0
    high: float = 60.0
    hysteresis: float = 5.0


def load_signals(state: State, utilization: float, cuts: Cuts) -> list[Signal]:
    """The signals that move a serving worker to the state that fits its utilization."""
    signals: list[Signal] = []
    while (signal := _load_signal(state, utilization, cuts)) is not None:
        signals.append(signal)
        state = TABLE[state, signal]
    return signals


def _load_signal(state: State, utilization: float, cuts: Cuts) -> Signal | None:
    if state is State.LU and utilization >= cuts.low:
        return Signal.OVER_LOW
    if state is State.MU and utilization >= cuts.high:
        return Signal.OVER_HIGH
    if state is State.MU and utilization < cuts.low - cuts.hysteresis:
        return Signal.UNDER_LOW
    if state is State.HU and utilization < cuts.high - cuts.hysteresis:
        return Signal.UNDER_HIGH
    return None
