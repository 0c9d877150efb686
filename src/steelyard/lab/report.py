"""What an experiment tells: tables, bars that it had to reach, and how to read it."""

from __future__ import annotations

from pydantic import BaseModel, ConfigDict

Cell = str | int | float | None


class Model(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")


class Table(Model):
    """One table; its name is also that of its CSV file."""

    name: str
    title: str
    columns: tuple[str, ...]
    rows: tuple[tuple[Cell, ...], ...]
    shown: bool = True  # long ones go into files only

    def column(self, name: str) -> list[Cell]:
        """All cells under that head."""
        index = self.columns.index(name)
        return [row[index] for row in self.rows]


class Bar(Model):
    """What was to be reached, and what was."""

    what: str
    got: str
    met: bool


class Report(Model):
    """One run of an experiment."""

    name: str
    title: str
    method: str  # what was simulated
    answer: str  # in a sentence or two, for who reads no further
    reading: str  # what the figures mean, in plain words
    seed: int
    requests: int  # simulated in all
    tables: tuple[Table, ...]
    bars: tuple[Bar, ...] = ()

    def table(self, name: str) -> Table:
        return next(table for table in self.tables if table.name == name)


def cell(value: Cell) -> str:
    """A cell as a person reads it.

    >>> cell(12345), cell(0.98765), cell(None), cell("ring")
    ('12,345', '0.9877', '–', 'ring')
    """
    if value is None or value != value:
        return "–"
    if isinstance(value, str):
        return value
    return f"{value:,}" if isinstance(value, int) else f"{value:.4g}"
