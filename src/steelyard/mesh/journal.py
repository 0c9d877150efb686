"""The results that a job has so far, in a file: after a crash, a client goes on where it was.

The key of a unit is its function, its arguments, and how many equal units its client had before it:
if a program asks twice for the same, both are run, and its next run finds both. Only values are
kept: units that failed are tried again. An answer is in the file before the application sees it, so
after a crash the application may see it again, but never loses it.
"""

from __future__ import annotations

import sqlite3
import threading
import time
from collections import Counter
from collections.abc import Iterable
from hashlib import sha256
from math import inf
from pathlib import Path
from typing import NamedTuple

from steelyard.errors import Fault, SteelyardError

BUSY, PAUSE = 1.0, 10.0  # seconds: to wait for another program's write; to pause after a longer one
_SCHEMA = """
CREATE TABLE IF NOT EXISTS units (
    key BLOB PRIMARY KEY, value BLOB NOT NULL, output TEXT NOT NULL, seconds REAL NOT NULL
) WITHOUT ROWID
"""


class JournalError(SteelyardError):
    """The journal cannot be read or written."""

    fault = Fault.MACHINE


class Line(NamedTuple):
    """One unit that is done, as the journal keeps it."""

    key: bytes
    value: bytes
    output: str
    seconds: float


class Journal:
    """One journal file, used by all threads of one client."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._lock = threading.Lock()
        self._until = -inf  # nothing is written before this time
        self._seen: Counter[bytes] = Counter()  # how often each unit was submitted in this run
        try:
            self._file = sqlite3.connect(
                path, timeout=BUSY, check_same_thread=False, isolation_level=None
            )
            self._file.execute("PRAGMA journal_mode = WAL")
            self._file.execute("PRAGMA synchronous = NORMAL")
            self._file.execute(_SCHEMA)
            self._file.execute("SELECT key, value, output, seconds FROM units LIMIT 0")
        except sqlite3.Error as error:
            raise self._error(error) from None

    def key(self, function: str, arguments: bytes) -> bytes:
        """The key of the next unit with this function and these arguments."""
        digest = sha256(function.encode() + b"\0" + arguments).digest()
        with self._lock:
            self._seen[digest] += 1
            return digest + self._seen[digest].to_bytes(4, "big")

    def find(self, keys: Iterable[bytes]) -> dict[bytes, Line]:
        """The lines of those units that are done."""
        found = {}
        try:
            with self._lock:
                for key in keys:
                    row = self._file.execute("SELECT * FROM units WHERE key = ?", (key,)).fetchone()
                    if row is not None:
                        found[key] = Line(*row)
        except sqlite3.Error as error:
            raise self._error(error) from None
        return found

    def add(self, lines: Iterable[Line]) -> None:
        """Write these lines; they are safe when this returns. After a failure, writing pauses for
        PAUSE: an application that waits for answers must not wait for another program that locks
        the file.
        """
        if time.monotonic() < self._until:
            return
        try:
            with self._lock:
                self._write(lines)
        except (sqlite3.Error, OverflowError) as error:  # OverflowError: a value of some GB
            if isinstance(error, sqlite3.OperationalError):
                self._until = time.monotonic() + PAUSE
            raise self._error(error) from None

    def _write(self, lines: Iterable[Line]) -> None:
        try:
            self._file.execute("BEGIN IMMEDIATE")
            self._file.executemany("INSERT OR REPLACE INTO units VALUES (?, ?, ?, ?)", lines)
            self._file.execute("COMMIT")
        finally:
            if self._file.in_transaction:  # otherwise no later transaction could begin
                self._file.execute("ROLLBACK")

    def close(self) -> None:
        """Close the file."""
        with self._lock:  # SQLite crashes when it is closed during a query
            self._file.close()

    def _error(self, error: Exception) -> JournalError:
        return JournalError(
            f"the journal {self._path} cannot be used: {error}",
            hint="give the path of a journal, or of a new file in a folder that can be written",
        )
