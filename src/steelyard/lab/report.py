"""The result of an experiment: tables, goals that it had to reach, and how to read it."""

from __future__ import annotations

from pydantic import BaseModel, ConfigDict

Cell = str | int | float | None


class Model(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")


class Table(Model):
    """One table; its CSV file has its name."""

    name: str
    title: str
    columns: tuple[str, ...]
    rows: tuple[tuple[Cell, ...], ...]
    shown: bool = True  # a long table goes into a file only

    def column(self, name: str) -> list[Cell]:
        """All cells of the column with that head."""
        index = self.columns.index(name)
        return [row[index] for row in self.rows]


class Bar(Model):
    """A goal of the experiment, and the result."""

    what: str
    got: str
    met: bool


class Report(Model):
    """One run of an experiment."""

    name: str
    title: str
    method: str  # what was simulated
    answer: str  # in a sentence or two, for readers who read no further
    reading: str  # what the figures mean, in plain words
    seed: int
    requests: int  # number of simulated requests
    tables: tuple[Table, ...]
    bars: tuple[Bar, ...] = ()

    def table(self, name: str) -> Table:
        return next(table for table in self.tables if table.name == name)


def cell(value: Cell) -> str:
    """A cell as text for people.

    >>> cell(12345), cell(0.98765), cell(None), cell("ring")
    ('12,345', '0.9877', '–', 'ring')
    """
    if value is None or value != value:
        return "–"
    if isinstance(value, str):
        return value
    return f"{value:,}" if isinstance(value, int) else f"{value:.4g}"
