"""The tables of the embedded store, and their version.

workers   one row per worker under the MD5 of `application:name` (record_key), a column per field
limits    one row per application
lease     one row per application: who leads, until when in seconds since which start of the machine

Version 2 added the lease.
"""

from __future__ import annotations

import sqlite3
from pathlib import Path

from steelyard.errors import StoreError

VERSION = 2

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
    """Open the file, make what is missing; sqlite3.Error or StoreError when that cannot be.

    WAL with synchronous NORMAL: a commit survives the death of the program at any point, and one
    of the machine but for the last commits, which reconciliation makes up for; no fsync each.
    """
    connection = sqlite3.connect(path, timeout=patience, isolation_level=None)
    try:
        connection.row_factory = sqlite3.Row
        connection.execute("PRAGMA journal_mode = WAL")
        connection.execute("PRAGMA synchronous = NORMAL")
        _bring_up(connection, path)
    except BaseException:
        connection.close()
        raise
    return connection


def _bring_up(connection: sqlite3.Connection, path: Path) -> None:
    version = connection.execute("PRAGMA user_version").fetchone()[0]
    if version > VERSION:
        raise StoreError(
            f"{path} has schema {version}, this Steelyard knows up to {VERSION}",
            hint="it was written by a newer Steelyard: use that one, or another file",
        )
    if version < VERSION:
        connection.executescript(_TABLES)
