"""A unit of a job: it sleeps, so that a busy machine disturbs little, and writes down when."""

from __future__ import annotations

import os
import time

SPEED, DIARY = "JOB_SPEED", "JOB_DIARY"  # of a node, in its environment


def nap(task: tuple[int, float]) -> int:
    """So many seconds at speed 1; returns the unit's number."""
    number, seconds = task
    _note("begin", number)
    time.sleep(seconds / float(os.environ[SPEED]))
    _note("end", number)
    return number


def _note(what: str, number: int) -> None:
    """A line in one write, so that it is there whole or not at all, whoever is killed."""
    file = os.open(os.environ[DIARY], os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o600)
    try:
        os.write(file, f"{what} {number} {time.monotonic()}\n".encode())
    finally:
        os.close(file)
