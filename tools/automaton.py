"""Draws a state machine, such as the life of a worker, from the table that the code runs."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from enum import StrEnum
from typing import TypeVar

State = TypeVar("State", bound=StrEnum)
Signal = TypeVar("Signal", bound=StrEnum)


def draw(table: Mapping[tuple[State, Signal], State]) -> str:
    """A diagram, and the same as a table; the enumeration's first state is the initial one."""
    return f"```mermaid\n{_figure(table)}\n```\n\n{_matrix(table)}"


def _states(table: Mapping[tuple[State, Signal], State]) -> type[State]:
    return type(next(iter(table.values())))


def _figure(table: Mapping[tuple[State, Signal], State]) -> str:
    lines = ["stateDiagram-v2", "    direction LR", f"    [*] --> {next(iter(_states(table)))}"]
    lines += (
        f"    {before} --> {after}: {' / '.join(signals)}"
        for (before, after), signals in _arrows(table).items()
    )
    lines += (f"    {state} --> [*]" for state in _final(table))
    return "\n".join(lines)


def _arrows(
    table: Mapping[tuple[State, Signal], State],
) -> dict[tuple[State, State], list[str]]:
    """One arrow for each pair of states, with all its signals."""
    arrows: dict[tuple[State, State], list[str]] = {}
    for (before, signal), after in table.items():
        arrows.setdefault((before, after), []).append(signal.value)
    return arrows


def _final(table: Mapping[tuple[State, Signal], State]) -> Iterable[State]:
    leaving = {before for before, _ in table}
    return (state for state in _states(table) if state not in leaving)


def _matrix(table: Mapping[tuple[State, Signal], State]) -> str:
    """A table with one row per signal and one column per state; an empty cell is illegal."""
    used = {before for before, _ in table}
    states = [state for state in _states(table) if state in used]
    signals = type(next(signal for _, signal in table))
    head = ["signal", *states]
    rows = [[signal, *(table.get((state, signal), "") for state in states)] for signal in signals]
    return "\n".join(_line(cells) for cells in [head, ["---"] * len(head), *rows])


def _line(cells: Iterable[str]) -> str:
    return "| " + " | ".join(cells) + " |"
