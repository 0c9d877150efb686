"""A unit of a job: it sleeps, so that a busy machine disturbs little, and logs when."""

from __future__ import annotations

import os
import time

SPEED, DIARY = "JOB_SPEED", "JOB_DIARY"  # environment variables of a node


def nap(task: tuple[int, float]) -> int:
    """Sleep so many seconds at speed 1; return the unit's number."""
    number, seconds = task
    _note("begin", number)
    time.sleep(seconds / float(os.environ[SPEED]))
    _note("end", number)
    return number


def _note(what: str, number: int) -> None:
    """Log in a single write, so that the line is there whole or not at all, even if we are
    killed.
    """
    file = os.open(os.environ[DIARY], os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o600)
    try:
        os.write(file, f"{what} {number} {time.monotonic()}\n".encode())
    finally:
        os.close(file)
