"""The table of states."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from steelyard.core.lifecycle import (
    LEAVING,
    SERVING,
    TABLE,
    Cuts,
    IllegalTransitionError,
    Signal,
    State,
    load_signals,
    transition,
)

CUTS = Cuts(low=30, high=60, hysteresis=5)


def follow(state: State, utilization: float) -> State:
    for signal in load_signals(state, utilization, CUTS):
        state = transition(state, signal)
    return state


@pytest.mark.parametrize(
    ("state", "utilization", "expected"),
    [
        (State.LU, 29.9, State.LU),
        (State.LU, 30, State.MU),
        (State.LU, 100, State.HU),  # both cuts in one tick
        (State.MU, 59.9, State.MU),
        (State.MU, 60, State.HU),
        (State.MU, 27, State.MU),  # within the hysteresis
        (State.MU, 24.9, State.LU),
        (State.HU, 57, State.HU),  # within the hysteresis
        (State.HU, 54.9, State.MU),
        (State.HU, 0, State.LU),
        (State.INIT, 100, State.INIT),  # load moves only workers that serve
        (State.SUNDOWN, 0, State.SUNDOWN),
    ],
)
def test_utilization_moves_a_worker_sideways(state, utilization, expected):
    """A worker follows the cuts with their hysteresis, in as many steps as it takes."""
    assert follow(state, utilization) is expected


def test_leaving_is_final():
    """Nothing leads from SUNDOWN or SHUTDOWN back to service."""
    for (state, _), following in TABLE.items():
        if state in LEAVING:
            assert following is State.SHUTDOWN


def test_the_policy_retires_from_low_utilization_only():
    """The signal RETIRE has a transition from LU and from no other state."""
    assert [state for state, signal in TABLE if signal is Signal.RETIRE] == [State.LU]


def test_a_target_may_be_met_without_a_busy_worker():
    """The signal SURPLUS has a transition from every state in which a worker serves."""
    assert {state for state, signal in TABLE if signal is Signal.SURPLUS} == SERVING


def test_every_state_is_reached_and_every_one_can_die():
    """Every state can be reached, and a worker may die in every state but SHUTDOWN."""
    assert set(TABLE.values()) | {State.INIT} == set(State)
    assert {state for state, signal in TABLE if signal is Signal.DIED} == SERVING | {
        State.INIT,
        State.SUNDOWN,
    }


def test_an_illegal_transition_tells_its_history():
    """An unknown signal raises an error with the state, the signal and the worker's history."""
    with pytest.raises(
        IllegalTransitionError, match=r"SUNDOWN knows no signal “ready”.*LU retired"
    ):
        transition(State.SUNDOWN, Signal.READY, ["INIT ready", "LU retired"])


@given(st.sampled_from(sorted(SERVING)), st.floats(0, 100))
def test_following_the_load_settles(state, utilization):
    """A second measurement with the same load does not move a worker again."""
    settled = follow(state, utilization)
    assert load_signals(settled, utilization, CUTS) == []
