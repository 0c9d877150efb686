"""Figures as cells of a table."""

from __future__ import annotations

UNKNOWN = "–"


def number(value: float | None, digits: int, factor: float = 1.0) -> str:
    """A number as text, or a mark if it is not known."""
    return UNKNOWN if value is None else f"{value * factor:,.{digits}f}"


def percent(value: float | None) -> str:
    """A share of 1 as percent."""
    return UNKNOWN if value is None else f"{value * 100:.0f} %"


def remarks(errors: int, disturbed: int, rounds: int) -> str:
    """Remarks on a row whose figures are doubtful."""
    found = [f"{errors} FAILED"] if errors else []
    if disturbed:
        found.append(f"{disturbed} of {rounds} rounds disturbed")
    return ", ".join(found)
