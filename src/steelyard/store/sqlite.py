"""The embedded store: one SQLite file, no server.

One thread has the connection, so calls wait there and never in the event loop. After an error the
connection is dropped and the next call makes a new one: a store that is back works again by itself.
"""

from __future__ import annotations

import asyncio
import os
import sqlite3
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import TypeVar

from pydantic import ValidationError

from steelyard.core.commands import Change, Forget, Save, SaveLimits
from steelyard.core.record import LimitsRecord, WorkerRecord, record_key
from steelyard.errors import StoreError
from steelyard.store import sqlite_lease as lease
from steelyard.store.base import LeaseError
from steelyard.store.schema import connect

T = TypeVar("T")


class SqliteStore:
    """Keeps the records of one application in a file that other applications may share."""

    def __init__(self, application: str, path: Path, patience: float = 5.0) -> None:
        self.url = f"sqlite:{path}"
        self._application = application
        self._path = path
        self._patience = patience  # seconds to wait for another program's lock
        self._thread = ThreadPoolExecutor(max_workers=1, thread_name_prefix="store")
        self._connection: sqlite3.Connection | None = None
        self._inode: tuple[int, int] | None = None

    async def open(self) -> None:
        """Connect, and create tables that are missing."""
        await self._call(lambda connection: None)

    async def close(self) -> None:
        """Close the connection; records stay."""
        await asyncio.get_running_loop().run_in_executor(self._thread, self._drop)

    async def workers(self) -> list[WorkerRecord]:
        """Every record of this application, in the order of their names."""
        return await self._call(self._select_workers)

    async def limits(self) -> LimitsRecord | None:
        """The limits set at run time, if any were."""
        return await self._call(self._select_limits)

    async def write(self, changes: Sequence[Change], holder: str = "") -> None:
        """Make these changes in order, in one transaction."""
        await self._call(lambda connection: self._write(connection, changes, holder))

    async def claim(self, holder: str, seconds: float) -> str:
        """Ask for the lease; return its holder after that."""
        return await self._call(
            lambda connection: lease.claim(connection, self._application, holder, seconds)
        )

    async def release(self, holder: str) -> None:
        """Give the lease back, if this holder has it."""
        await self._call(lambda connection: lease.release(connection, self._application, holder))

    async def _call(self, work: Callable[[sqlite3.Connection], T]) -> T:
        loop = asyncio.get_running_loop()
        return await loop.run_in_executor(self._thread, self._attempt, work)

    def _attempt(self, work: Callable[[sqlite3.Connection], T]) -> T:
        try:
            return work(self._connected())
        except (sqlite3.Error, OSError, ValidationError) as error:
            self._drop()
            raise StoreError(f"{self._path}: {error}", hint=_hint(error)) from error

    def _connected(self) -> sqlite3.Connection:
        if self._connection is not None and self._inode != _inode(self._path):
            # SQLite would go on writing to the deleted file, and report success.
            self._drop()
            raise StoreError(
                f"{self._path} was deleted or replaced", hint="the next write makes a new file"
            )
        if self._connection is None:
            self._path.parent.mkdir(parents=True, exist_ok=True)
            self._connection = connect(self._path, self._patience)
            self._inode = _inode(self._path)
        return self._connection

    def _drop(self) -> None:
        if self._connection is not None:
            self._connection.close()
        self._connection = None

    def _write(
        self, connection: sqlite3.Connection, changes: Sequence[Change], holder: str
    ) -> None:
        with connection:  # commits, or rolls back
            connection.execute("BEGIN IMMEDIATE")
            if holder and lease.leader(connection, self._application) != holder:
                raise LeaseError(holder)
            for change in changes:
                self._make(connection, change)

    def _make(self, connection: sqlite3.Connection, change: Change) -> None:
        match change:
            case Save(record):
                row = {"key": record.key} | record.model_dump(mode="json")
                _replace(connection, "workers", row)
            case Forget(name):
                key = record_key(self._application, name)
                connection.execute("DELETE FROM workers WHERE key = ?", (key,))
            case SaveLimits(limits):
                row = {"application": self._application} | limits.model_dump()
                _replace(connection, "limits", row)

    def _select_workers(self, connection: sqlite3.Connection) -> list[WorkerRecord]:
        found = connection.execute(
            'SELECT application, name, state, score, host, port, source, "default", sequence'
            " FROM workers WHERE application = ? ORDER BY name",
            (self._application,),
        )
        return [WorkerRecord.model_validate(dict(row)) for row in found]

    def _select_limits(self, connection: sqlite3.Connection) -> LimitsRecord | None:
        row = connection.execute(
            'SELECT "min", "max", configured_min, configured_max FROM limits WHERE application = ?',
            (self._application,),
        ).fetchone()
        return None if row is None else LimitsRecord.model_validate(dict(row))


def _replace(connection: sqlite3.Connection, table: str, row: dict[str, object]) -> None:
    """Write a row. The names of table and columns come from our code, and values are bound."""
    columns = ", ".join(f'"{name}"' for name in row)
    values = ", ".join(f":{name}" for name in row)
    connection.execute(f"REPLACE INTO {table} ({columns}) VALUES ({values})", row)  # noqa: S608


def _inode(path: Path) -> tuple[int, int] | None:
    try:
        stat = os.stat(path)
    except OSError:
        return None
    return stat.st_dev, stat.st_ino


def _hint(error: Exception) -> str:
    match error:
        case ValidationError():
            return "a record was changed by hand; delete it or the file"
        case sqlite3.OperationalError() if "locked" in str(error):
            return "another program holds its lock"
        case sqlite3.OperationalError() | OSError():
            return "is its folder writable, or is the disk full?"
        case _:
            return "did Steelyard make this file? Move it away, or choose another with --store"
