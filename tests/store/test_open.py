"""Making the store that a URL names."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from steelyard.errors import UsageError
from steelyard.store.memory import MemoryStore
from steelyard.store.open import open_store
from steelyard.store.redis import RedisStore
from steelyard.store.sqlite import SqliteStore


def test_sqlite_without_path_is_in_the_folder(tmp_path: Path) -> None:
    """`sqlite:` alone is a file in the application's folder."""
    store = open_store("sqlite:", "app", tmp_path)
    assert isinstance(store, SqliteStore)
    assert store.url == f"sqlite:{tmp_path / 'store.sqlite'}"


@pytest.mark.parametrize(
    ("url", "path"),
    [
        ("sqlite:here.db", "here.db"),
        ("sqlite:/there/here.db", "/there/here.db"),
        ("sqlite:///there/here.db", "/there/here.db"),
        ("sqlite:~/here.db", str(Path("~/here.db").expanduser())),
    ],
)
def test_sqlite_with_path(url: str, path: str, tmp_path: Path) -> None:
    """A path is taken as it is, `~` and the usual three slashes understood."""
    assert open_store(url, "app", tmp_path).url == f"sqlite:{path}"


def test_redis_is_told_without_its_secrets(tmp_path: Path) -> None:
    """The URL for people has neither the password nor the options, which may hold one."""
    store = open_store("rediss://me:secret@10.0.0.1:1/2?password=secret", "app", tmp_path)
    assert isinstance(store, RedisStore)
    assert store.url == "rediss://me@10.0.0.1:1/2"


def test_a_url_that_is_wrong_is_told_without_its_secrets(tmp_path: Path) -> None:
    """Errors do not show the secrets of a URL."""
    with pytest.raises(UsageError) as told:
        open_store("redis://me:secret@x:port", "app", tmp_path)
    assert "secret" not in str(told.value)


def test_without_redis_py(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Without redis-py the error names the extra to install."""
    monkeypatch.setitem(sys.modules, "redis.asyncio", None)
    monkeypatch.delitem(sys.modules, "steelyard.store.redis", raising=False)
    with pytest.raises(UsageError, match=r"steelyard\[redis\]"):
        open_store("redis://127.0.0.1", "app", tmp_path)


def test_memory(tmp_path: Path) -> None:
    """`memory:` makes a store in memory."""
    assert isinstance(open_store("memory:", "app", tmp_path), MemoryStore)


@pytest.mark.parametrize(
    ("url", "says"),
    [
        ("sqllite:x", "did you mean `sqlite:`"),
        ("memory", "did you mean `memory:`"),
        ("memory:x", "takes no path"),
        ("mongodb://x", "known are `sqlite:`, `sqlite:PATH`, `memory:`, `redis://…`"),
        ("", "known are"),
        ("redi://x", "did you mean `redis:`"),
        ("redis://x:port", "cannot be understood"),
        ("redis://x/0?colour=red", "cannot be understood"),
    ],
)
def test_unknown_url(url: str, says: str, tmp_path: Path) -> None:
    """An error for an unknown URL lists the known ones, and suggests the nearest."""
    with pytest.raises(UsageError, match=says):
        open_store(url, "app", tmp_path)
