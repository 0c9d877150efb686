"""The lease in an SQLite file, for several agents on one machine: they share its clock."""

from __future__ import annotations

import sqlite3
import time
from pathlib import Path


def claim(connection: sqlite3.Connection, application: str, holder: str, seconds: float) -> str:
    """Ask for the lease; return its holder after that."""
    with connection:
        connection.execute("BEGIN IMMEDIATE")
        other = leader(connection, application)
        if other not in {"", holder}:
            return other
        row = (application, holder, _now() + seconds, _boot())
        connection.execute("REPLACE INTO lease VALUES (?, ?, ?, ?)", row)
    return holder


def release(connection: sqlite3.Connection, application: str, holder: str) -> None:
    """Give the lease back, if this holder has it."""
    connection.execute(
        "DELETE FROM lease WHERE application = ? AND holder = ?", (application, holder)
    )


def leader(connection: sqlite3.Connection, application: str) -> str:
    """The holder of the lease, or "" if there is none."""
    row = connection.execute(
        "SELECT holder FROM lease WHERE application = ? AND until > ? AND boot = ?",
        (application, _now(), _boot()),
    ).fetchone()
    return "" if row is None else str(row["holder"])


def _now() -> float:
    """Seconds since the machine was booted: nobody can set this clock back."""
    return time.clock_gettime(time.CLOCK_BOOTTIME)


def _boot() -> str:
    return Path("/proc/sys/kernel/random/boot_id").read_text().strip()
