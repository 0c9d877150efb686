"""The diagram of a worker's life is drawn from its table."""

from __future__ import annotations

from steelyard.core.lifecycle import TABLE, Signal, State
from tools.automaton import draw

SMALL = {
    (State.INIT, Signal.READY): State.LU,
    (State.INIT, Signal.DIED): State.SHUTDOWN,
    (State.INIT, Signal.FAILED): State.SHUTDOWN,
    (State.LU, Signal.DIED): State.SHUTDOWN,
}


def test_signals_between_the_same_states_share_an_arrow() -> None:
    """Two states with several signals have one arrow, so that the diagram stays readable."""
    lines = draw(SMALL).splitlines()
    assert "    INIT --> LU: ready" in lines
    assert "    INIT --> SHUTDOWN: died / boot or liveness failed" in lines
    assert "    SHUTDOWN --> [*]" in lines


def test_the_table_has_a_cell_for_each_transition() -> None:
    """Signals are rows, states are columns, and an empty cell is an illegal transition."""
    lines = draw(SMALL).splitlines()
    assert "| signal | INIT | LU |" in lines
    assert "| died | SHUTDOWN | SHUTDOWN |" in lines
    assert "| ready | LU |  |" in lines


def test_every_transition_of_the_core_is_drawn() -> None:
    """No transition is missing from the diagram."""
    text = draw(TABLE)
    for (before, signal), after in TABLE.items():
        assert any(
            line.startswith(f"    {before} --> {after}: ") and signal.value in line
            for line in text.splitlines()
        )
