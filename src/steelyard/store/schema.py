"""The tables of the embedded store, and their version.

workers   one row per worker under the MD5 of `application:name` (record_key), a column per field
limits    one row per application
lease     one row per application: the holder, until when, and the boot id; time counts from boot

Version 2 added the lease.
"""

from __future__ import annotations

import sqlite3
import time
from pathlib import Path

from steelyard.errors import StoreError

VERSION = 2
_AGAIN = 0.01  # seconds until a file that is locked is tried again

_TABLES = """
BEGIN IMMEDIATE;
CREATE TABLE IF NOT EXISTS workers (
    key TEXT PRIMARY KEY,
    application TEXT NOT NULL,
    name TEXT NOT NULL,
    state TEXT NOT NULL,
    score REAL NOT NULL,
    host TEXT NOT NULL,
    port INTEGER NOT NULL,
    source TEXT NOT NULL,
    "default" INTEGER NOT NULL,
    sequence INTEGER NOT NULL
) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS limits (
    application TEXT PRIMARY KEY,
    "min" INTEGER NOT NULL,
    "max" INTEGER NOT NULL,
    configured_min INTEGER NOT NULL,
    configured_max INTEGER NOT NULL
) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS lease (
    application TEXT PRIMARY KEY,
    holder TEXT NOT NULL,
    until REAL NOT NULL,
    boot TEXT NOT NULL
) WITHOUT ROWID;
PRAGMA user_version = 2;
COMMIT;
"""


def connect(path: Path, patience: float) -> sqlite3.Connection:
    """Open the file and create missing tables; raise sqlite3.Error or StoreError if that fails.

    WAL with synchronous NORMAL, so that not every commit needs an fsync: a commit survives the
    death of the program at any point. The death of the machine may undo the last commits, and
    reconciliation makes up for them.
    """
    connection = sqlite3.connect(path, timeout=patience, isolation_level=None)
    try:
        connection.row_factory = sqlite3.Row
        _use_wal(connection, patience)
        connection.execute("PRAGMA synchronous = NORMAL")
        _bring_up(connection, path)
    except BaseException:
        connection.close()
        raise
    return connection


def _use_wal(connection: sqlite3.Connection, patience: float) -> None:
    """Switch to WAL; SQLite does not wait by itself for another process that does the same."""
    end = time.monotonic() + patience
    while True:
        try:
            connection.execute("PRAGMA journal_mode = WAL")
            return
        except sqlite3.OperationalError as error:
            if error.sqlite_errorcode != sqlite3.SQLITE_BUSY or time.monotonic() >= end:
                raise
        time.sleep(_AGAIN)


def _bring_up(connection: sqlite3.Connection, path: Path) -> None:
    version = connection.execute("PRAGMA user_version").fetchone()[0]
    if version > VERSION:
        raise StoreError(
            f"{path} has schema {version}, this Steelyard knows up to {VERSION}",
            hint="a newer Steelyard wrote it: use that one, or another file",
        )
    if version < VERSION:
        connection.executescript(_TABLES)
