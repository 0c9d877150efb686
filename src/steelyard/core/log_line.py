"""A line of a worker's log, as the API returns it."""

from __future__ import annotations

from pydantic import AwareDatetime, BaseModel


class LogLine(BaseModel):
    """One line that a worker printed."""

    time: AwareDatetime | None  # None: the time at which it was printed is unknown
    worker: str
    text: str
    gap: bool = False  # this line stands for lines that were dropped before they could be read
