"""The life of a unit at its client, as a table.

A unit waits (TODO), is with one node or more (INFLIGHT), and ends in exactly one of the other
states. Its application is told of the end once. A value is accepted from any node at any time: a
node that was given up may still bring it. Only the loss of the last copy puts a unit back to TODO.

The figure in docs/mesh.md is drawn from TABLE.
"""

from __future__ import annotations

from enum import StrEnum

from steelyard.errors import SteelyardError


class State(StrEnum):
    __hash__ = str.__hash__  # Enum's own hash is written in Python, and slow

    TODO = "TODO"
    INFLIGHT = "INFLIGHT"
    DONE = "DONE"
    RAISED = "RAISED"
    QUARANTINED = "QUARANTINED"
    REFUSED = "REFUSED"
    EXPIRED = "EXPIRED"
    CANCELLED = "CANCELLED"


class Signal(StrEnum):
    __hash__ = str.__hash__

    GRANT = "granted to a node"
    HEDGE = "granted to one more node"
    FOUND = "a node that was given up has it"
    LOST = "the last copy is lost"
    VALUE = "a value"
    RAISED = "an exception"
    SPENT = "no try left"
    REFUSED = "no node knows its function"
    EXPIRED = "too late"
    CANCELLED = "nobody wants it"


OPEN = (State.TODO, State.INFLIGHT)
ENDINGS = {
    Signal.VALUE: State.DONE,
    Signal.RAISED: State.RAISED,
    Signal.SPENT: State.QUARANTINED,
    Signal.REFUSED: State.REFUSED,
    Signal.EXPIRED: State.EXPIRED,
    Signal.CANCELLED: State.CANCELLED,
}

TABLE: dict[tuple[State, Signal], State] = {
    (State.TODO, Signal.GRANT): State.INFLIGHT,
    (State.TODO, Signal.FOUND): State.INFLIGHT,
    (State.INFLIGHT, Signal.HEDGE): State.INFLIGHT,
    (State.INFLIGHT, Signal.FOUND): State.INFLIGHT,
    (State.INFLIGHT, Signal.LOST): State.TODO,
    **{(state, signal): end for signal, end in ENDINGS.items() for state in OPEN},
}


class IllegalTransitionError(SteelyardError):
    """A signal that the table does not know in this state: a bug."""


def transition(state: State, signal: Signal) -> State:
    """The next state; an unknown pair raises and changes nothing."""
    try:
        return TABLE[state, signal]
    except KeyError:
        raise IllegalTransitionError(f"a unit in {state} knows no signal “{signal}”") from None
