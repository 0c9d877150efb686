"""Makes the store that a URL names."""

from __future__ import annotations

import difflib
from collections.abc import Callable
from pathlib import Path

from steelyard.errors import UsageError
from steelyard.store.base import Store
from steelyard.store.memory import MemoryStore
from steelyard.store.sqlite import SqliteStore

FILE = "store.sqlite"  # the name in the application's folder, when the URL has no path


def open_store(url: str, application: str, folder: Path) -> Store:
    """The store that the URL names, not yet connected."""
    scheme, colon, rest = url.partition(":")
    make = _MAKERS.get(scheme)
    if make is None or not colon:
        raise UsageError(f"no store is called {url!r}", hint=_known(scheme))
    return make(rest, application, folder)


def _sqlite(rest: str, application: str, folder: Path) -> Store:
    return SqliteStore(application, Path(rest).expanduser() if rest else folder / FILE)


def _memory(rest: str, application: str, folder: Path) -> Store:
    if rest:
        raise UsageError(f"memory: takes no path, but has {rest!r}", hint="write `memory:` alone")
    return MemoryStore(application)


def _redis(rest: str, application: str, folder: Path) -> Store:
    return _redis_store(f"redis:{rest}", application)


def _rediss(rest: str, application: str, folder: Path) -> Store:
    return _redis_store(f"rediss:{rest}", application)


def _redis_store(url: str, application: str) -> Store:
    """The import is late because redis-py is an extra."""
    try:
        from steelyard.store.redis import RedisStore
    except ImportError as error:
        raise UsageError(
            f"a store in Redis needs redis-py: {error}", hint="pip install 'steelyard[redis]'"
        ) from error
    return RedisStore(application, url)


_MAKERS: dict[str, Callable[[str, str, Path], Store]] = {
    "sqlite": _sqlite,
    "memory": _memory,
    "redis": _redis,
    "rediss": _rediss,
}


def _known(scheme: str) -> str:
    known = "known are `sqlite:`, `sqlite:PATH`, `memory:`, `redis://…` and `rediss://…`"
    nearest = difflib.get_close_matches(scheme.lower(), _MAKERS, n=1)
    return f"did you mean `{nearest[0]}:`? {known}" if nearest else known
