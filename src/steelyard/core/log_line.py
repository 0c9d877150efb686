"""A line of a worker's log, as the API tells it."""

from __future__ import annotations

from pydantic import AwareDatetime, BaseModel


class LogLine(BaseModel):
    """One line that a worker printed."""

    time: AwareDatetime | None  # None: nobody knows when it was printed
    worker: str
    text: str
    gap: bool = False  # in the place of lines that were dropped before they could be read
