"""What a job has brought so far, in a file: a client that dies goes on where it was.

A unit is known by its function and arguments, and by how many equal ones came before it in the
job. Only values are kept: what failed is tried again. An answer is in the file before the
application sees it, so the application may see it again after a crash, but never loses it.
"""

from __future__ import annotations

import sqlite3
import threading
from collections import Counter
from collections.abc import Iterable
from hashlib import sha256
from pathlib import Path
from typing import NamedTuple

from steelyard.errors import Fault, SteelyardError

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


class Keys:
    """Names the units of one job."""

    def __init__(self) -> None:
        self._seen: Counter[bytes] = Counter()

    def of(self, function: str, arguments: bytes) -> bytes:
        """The next unit's."""
        digest = sha256(function.encode() + b"\0" + arguments).digest()
        self._seen[digest] += 1
        return digest + self._seen[digest].to_bytes(4, "big")


class Journal:
    """One file, for all threads of a client."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._lock = threading.Lock()
        try:
            self._file = sqlite3.connect(path, check_same_thread=False, isolation_level=None)
            self._file.execute("PRAGMA journal_mode = WAL")
            self._file.execute("PRAGMA synchronous = NORMAL")
            self._file.execute(_SCHEMA)
        except sqlite3.Error as error:
            raise self._error(error) from None

    def find(self, keys: Iterable[bytes]) -> dict[bytes, Line]:
        """Those of these units that are done."""
        found = {}
        with self._lock:
            for key in keys:
                row = self._file.execute("SELECT * FROM units WHERE key = ?", (key,)).fetchone()
                if row is not None:
                    found[key] = Line(*row)
        return found

    def add(self, lines: Iterable[Line]) -> None:
        """Keep them; they are safe when this returns."""
        try:
            with self._lock:
                self._file.execute("BEGIN")
                self._file.executemany("INSERT OR REPLACE INTO units VALUES (?, ?, ?, ?)", lines)
                self._file.execute("COMMIT")
        except sqlite3.Error as error:
            raise self._error(error) from None

    def close(self) -> None:
        """Done with it."""
        self._file.close()

    def _error(self, error: sqlite3.Error) -> JournalError:
        return JournalError(
            f"the journal {self._path} cannot be used: {error}",
            hint="give the path of a file in a folder that can be written",
        )
