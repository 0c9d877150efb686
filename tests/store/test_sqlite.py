"""Failures of a file."""

from __future__ import annotations

import asyncio
import shutil
import sqlite3
import subprocess
import sys
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from steelyard.core.commands import Save
from steelyard.errors import StoreError
from steelyard.store.sqlite import SqliteStore
from tests.contract.test_store_contract import record


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "state" / "store.sqlite"


@pytest.fixture
async def store(path: Path) -> AsyncIterator[SqliteStore]:
    """An open store that hardly waits for locks."""
    found = SqliteStore("app", path, patience=0.05)
    await found.open()
    yield found
    await found.close()


async def test_deleted_folder_is_told_once_then_made_anew(store: SqliteStore, path: Path) -> None:
    """A write to a deleted file fails once, so that the agent writes everything again."""
    shutil.rmtree(path.parent)
    with pytest.raises(StoreError, match="deleted or replaced"):
        await store.write([Save(record("one"))])
    await store.write([Save(record("two"))])
    assert await store.workers() == [record("two")]


async def test_replaced_folder_is_noticed(store: SqliteStore, path: Path) -> None:
    """Another file at the same path is not mistaken for ours."""
    await store.write([Save(record("old"))])
    restored = path.parent.with_name("restored")
    other = SqliteStore("app", restored / path.name)
    await other.write([Save(record("new"))])
    await other.close()
    path.parent.rename(path.parent.with_name("away"))
    restored.rename(path.parent)
    with pytest.raises(StoreError, match="deleted or replaced"):
        await store.workers()
    assert await store.workers() == [record("new")]


async def test_folder_that_cannot_be_comes_back(store: SqliteStore, path: Path) -> None:
    """While a file is in place of the folder every call fails; after that calls work."""
    away = path.parent.with_name("away")
    await store.write([Save(record("one"))])
    path.parent.rename(away)
    path.parent.touch()
    for _ in range(3):
        with pytest.raises(StoreError):
            await store.write([Save(record("two"))])
    path.parent.unlink()
    away.rename(path.parent)
    await store.write([Save(record("two"))])
    assert await store.workers() == [record("one"), record("two")]


async def test_unwritable_folder(tmp_path: Path) -> None:
    """A folder that is not writable gives an error that asks about the folder."""
    store = SqliteStore("app", Path("/proc/steelyard/store.sqlite"))
    with pytest.raises(StoreError, match="folder writable"):
        await store.open()


async def test_locked_by_another_program(store: SqliteStore, path: Path) -> None:
    """A lock that is kept is an error for writing; reading works, and writing when it is free."""
    holder = sqlite3.connect(path, isolation_level=None)
    holder.execute("BEGIN IMMEDIATE")
    with pytest.raises(StoreError, match="another program"):
        await store.write([Save(record("one"))])
    assert await store.workers() == []
    holder.close()
    await store.write([Save(record("one"))])
    assert await store.workers() == [record("one")]


def test_not_a_database(path: Path) -> None:
    """A file that is no database is left as it is, and named in the error."""
    path.parent.mkdir()
    text = "these are not the records you are looking for\n" * 100
    path.write_text(text)
    with pytest.raises(StoreError, match=r"store\.sqlite.*not a database"):
        asyncio.run(SqliteStore("app", path).open())
    assert path.read_text() == text


async def test_newer_schema(store: SqliteStore, path: Path) -> None:
    """A file of a newer Steelyard is not touched."""
    await store.close()
    with sqlite3.connect(path) as connection:
        connection.execute("PRAGMA user_version = 3")
    connection.close()
    with pytest.raises(StoreError, match="schema 3"):
        await store.open()


async def test_record_changed_by_hand(store: SqliteStore, path: Path) -> None:
    """A record that makes no sense is an error of the store, not a crash."""
    await store.write([Save(record("one"))])
    with sqlite3.connect(path) as connection:
        connection.execute("UPDATE workers SET state = 'HAPPY'")
    connection.close()
    with pytest.raises(StoreError, match="changed by hand"):
        await store.workers()


WRITER = """
import asyncio, sys
from pathlib import Path
from steelyard.core.commands import Save
from steelyard.store.sqlite import SqliteStore
from tests.contract.test_store_contract import record

async def main():
    store = SqliteStore("app", Path(sys.argv[1]))
    for number in range(10**9):
        await store.write([Save(record(f"w{number:09}"))])
        print(number, flush=True)

asyncio.run(main())
"""


def killed_writer(path: Path) -> int:
    """Let a program write, kill it meanwhile, and return the last save that it confirmed."""
    writer = subprocess.Popen(
        [sys.executable, "-c", WRITER, str(path)], stdout=subprocess.PIPE, text=True
    )
    assert writer.stdout is not None
    with writer.stdout as confirmed:
        while int(confirmed.readline()) < 50:
            pass
        writer.kill()
        last = [50, *map(int, confirmed.read().split())][-1]
    writer.wait()
    return last


async def test_survives_kill_9_in_the_middle_of_writing(path: Path) -> None:
    """Every save that was confirmed before the writer was killed can be read afterwards."""
    last = killed_writer(path)
    store = SqliteStore("app", path)
    names = {found.name for found in await store.workers()}
    await store.close()
    assert names >= {f"w{number:09}" for number in range(last + 1)}
    assert len(names) <= last + 2


def test_repeated_opening_by_many_processes(path: Path) -> None:
    """Processes that open a new file at the same time all succeed."""
    program = WRITER.replace("10**9", "3")
    writers = [subprocess.Popen([sys.executable, "-c", program, str(path)]) for _ in range(4)]
    assert [writer.wait() for writer in writers] == [0, 0, 0, 0]
