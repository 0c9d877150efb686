"""What a job has brought so far, in a file: a client that dies goes on where it was.

A unit is known by its function and arguments, and by how many equal ones its client had before it:
a program that asks twice for the same has it done twice, and its next life finds both. Only values
are kept: what failed is tried again. An answer is in the file before the application sees it, so
the application may see it again after a crash, but never loses it.
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

BUSY, PAUSE = 1.0, 10.0  # seconds: for another program's write, and after it took longer
_SCHEMA = """
CREATE TABLE IF NOT EXISTS units (
    key BLOB PRIMARY KEY, value BLOB NOT NULL, output TEXT NOT NULL, seconds REAL NOT NULL
) WITHOUT ROWID
"""


class JournalError(SteelyardError):
    """The file cannot be read or written."""

    fault = Fault.MACHINE


class Line(NamedTuple):
    """One unit that is done."""

    key: bytes
    value: bytes
    output: str
    seconds: float


class Journal:
    """One file, for all threads of one client."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._lock = threading.Lock()
        self._until = -inf  # nothing is written before
        self._seen: Counter[bytes] = Counter()  # units of this life
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
        """By which the next unit is known."""
        digest = sha256(function.encode() + b"\0" + arguments).digest()
        with self._lock:
            self._seen[digest] += 1
            return digest + self._seen[digest].to_bytes(4, "big")

    def find(self, keys: Iterable[bytes]) -> dict[bytes, Line]:
        """Those of these units that are done."""
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
        """Keep them; they are safe when this returns. While the file cannot be written it is tried
        now and then only: whoever waits for answers does not wait for who holds the file."""
        if time.monotonic() < self._until:
            return
        try:
            with self._lock:
                self._write(lines)
        except (sqlite3.Error, OverflowError) as error:  # the second of a value of some GB
            if isinstance(error, sqlite3.OperationalError):
                self._until = time.monotonic() + PAUSE
            raise self._error(error) from None

    def _write(self, lines: Iterable[Line]) -> None:
        try:
            self._file.execute("BEGIN IMMEDIATE")
            self._file.executemany("INSERT OR REPLACE INTO units VALUES (?, ?, ?, ?)", lines)
            self._file.execute("COMMIT")
        finally:
            if self._file.in_transaction:  # else no later one could begin
                self._file.execute("ROLLBACK")

    def close(self) -> None:
        """Done with it."""
        with self._lock:  # SQLite crashes when it is closed in the middle of a query
            self._file.close()

    def _error(self, error: Exception) -> JournalError:
        return JournalError(
            f"the journal {self._path} cannot be used: {error}",
            hint="give the path of a journal, or of a new file in a folder that can be written",
        )
