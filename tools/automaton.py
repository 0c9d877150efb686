"""The life of a worker, drawn from the table that the core runs."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from steelyard.core.lifecycle import Signal, State

Table = Mapping[tuple[State, Signal], State]


def draw(table: Table) -> str:
    """A figure and the same thing as a table."""
    return f"```mermaid\n{_figure(table)}\n```\n\n{_matrix(table)}"


def _figure(table: Table) -> str:
    lines = ["stateDiagram-v2", "    direction LR", f"    [*] --> {State.INIT}"]
    lines += (
        f"    {before} --> {after}: {' / '.join(signals)}"
        for (before, after), signals in _arrows(table).items()
    )
    lines += (f"    {state} --> [*]" for state in _final(table))
    return "\n".join(lines)


def _arrows(table: Table) -> dict[tuple[State, State], list[str]]:
    """One arrow for each pair of states, with all its signals."""
    arrows: dict[tuple[State, State], list[str]] = {}
    for (before, signal), after in table.items():
        arrows.setdefault((before, after), []).append(signal.value)
    return arrows


def _final(table: Table) -> Iterable[State]:
    leaving = {before for before, _ in table}
    return (state for state in State if state not in leaving)


def _matrix(table: Table) -> str:
    """Signals down, states across; an empty cell is a transition that raises."""
    states = [state for state in State if any(before is state for before, _ in table)]
    head = ["signal", *states]
    rows = [[signal, *(table.get((state, signal), "") for state in states)] for signal in Signal]
    return "\n".join(_line(cells) for cells in [head, ["---"] * len(head), *rows])


def _line(cells: Iterable[str]) -> str:
    return "| " + " | ".join(cells) + " |"
