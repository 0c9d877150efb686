"""The log files of workers: one per worker, kept for a while after the worker has ended.

A log that is too large is rotated: its text is copied to `NAME.log.1`, and the file is truncated.
The file cannot be renamed, because the worker keeps its descriptor, which appends.
"""

from __future__ import annotations

import logging
import os
import shutil
import threading
from collections import Counter
from collections.abc import Collection, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO

from steelyard.errors import UsageError
from steelyard.runtime.log_text import read_tail
from steelyard.runtime.names import is_worker_name
from steelyard.runtime.room import FULL, RESERVE, is_room, release, reserve, reserved

log = logging.getLogger(__name__)

KEPT = 20  # logs of ended workers: enough to see why the last ones died without filling the disk
BLOCK = 64 * 1024  # bytes of one read when a log is followed
NO_ROOM = (
    "the disk of the state folder is full: a worker that starts now keeps no log, and what others "
    "printed may be dropped"
)


@dataclass(frozen=True, slots=True)
class Place:
    """How far a log has been read: the number of rotations before, and the offset in the file."""

    turn: int = 0
    offset: int = 0


@dataclass(frozen=True, slots=True)
class Block:
    """A piece of a log, and the place to continue reading."""

    text: bytes
    place: Place
    gap: bool = False  # lines before this text were rotated away before they were read


class LogFiles:
    """A folder of log files; its methods may be called from any thread."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._lock = threading.Lock()  # held by whoever rotates or reads
        # rotations of each log in the lifetime of this object
        self._turns: Counter[str] = Counter()
        self._full = False  # the disk is full, and the log says so
        self._trouble = ""  # the last warning about other errors

    @property
    def notes(self) -> list[str]:
        """Messages for people."""
        return [NO_ROOM] if self._full else []

    def open(self) -> None:
        """Create the folder."""
        try:
            self._folder.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise UsageError(
                f"no folder for the workers' logs: {error}", hint="choose another with --state"
            ) from error

    def append(self, name: str) -> BinaryIO:
        """Open the file that a worker prints to; on a full disk, /dev/null in its place."""
        path = self._path(name)
        with suppress(_NoRoomError), self._noticing_full():
            file = path.open("ab")
            try:
                reserve(file.fileno())
            except OSError:
                file.close()
                _remove_empty(path)
                raise
            return file
        return Path(os.devnull).open("ab")

    def keep(self, name: str, text: str) -> None:
        """Store log lines that a Docker engine kept; on a full disk they are dropped."""
        with suppress(_NoRoomError), self._noticing_full(), self._path(name).open("ab") as file:
            file.write(text.encode())

    def tail(self, name: str, lines: int) -> str:
        """The last lines of a worker's log, whether the worker runs or not."""
        return self.begin(name, lines).text.decode(errors="replace")

    def begin(self, name: str, lines: int | None) -> Block:
        """The last lines of a worker's log and the place after them; with None, its start."""
        with self._lock:
            try:
                with self._path(name).open("rb") as file:
                    if lines is None:
                        return Block(b"", Place(self._turns[name]))
                    text = read_tail(file, lines)
                    place = Place(self._turns[name], file.tell())
            except FileNotFoundError:
                raise UsageError(
                    f"no log of a worker {name!r}",
                    hint="`steelyard status` shows the names; logs of long ended workers are "
                    "deleted, and a worker that started on a full disk has none",
                ) from None
            return Block(self._older(name, lines - text.count(b"\n")) + text, place)

    def read_on(self, name: str, place: Place) -> Block:
        """Read the next block from a place on, across rotations.

        No file stays open between two calls.
        """
        with self._lock:
            turn, path = self._turns[name], self._path(name)
            gap = place.turn < turn - 1
            if gap:
                place = Place(turn - 1)
            if place.turn < turn:
                text = _read_at(_old(path), place.offset)
                if text:
                    return Block(text, Place(place.turn, place.offset + len(text)), gap)
                gap, place = gap or text is None, Place(turn)
            # somebody truncated the file
            offset = place.offset if place.offset <= _size(path) else 0
            text = _read_at(path, offset) or b""
            return Block(text, Place(turn, offset + len(text)), gap)

    def prune(self, running: Collection[str]) -> None:
        """Delete the logs of ended workers except the newest."""
        ended = [path for path in self._folder.glob("*.log") if path.stem not in running]
        ended.sort(key=lambda path: path.stat().st_mtime_ns, reverse=True)
        for path in ended[:KEPT]:
            release(path)
        for path in ended[KEPT:]:
            path.unlink(missing_ok=True)
            _old(path).unlink(missing_ok=True)
            self._turns.pop(path.stem, None)

    def look_after(self, running: Collection[str], size: int) -> None:
        """Rotate logs larger than `size`, and reserve room for the next lines of `running`."""
        trouble = ""
        try:
            self.rotate(size)
            room = [self._make_room(self._path(name)) for name in running]
            self._note_full(not (all(room) and is_room(self._folder)))
        except OSError as error:  # the folder was deleted, or its disk is broken
            trouble = f"the logs of workers can be neither rotated nor given room: {error}"
        if trouble and trouble != self._trouble:
            log.warning("%s", trouble)
        self._trouble = trouble

    def rotate(self, size: int) -> None:
        """Move the text of each file larger than `size` to the old file, and truncate the file.

        A line that the worker prints between the last read and the truncation, which are two system
        calls, is lost. On a full disk the old text is dropped: room for the gateway is worth more.
        """
        for path in self._folder.glob("*.log"):
            try:
                if path.stat().st_size > size:
                    self._move_away(path)
            except FileNotFoundError:
                continue  # the file was pruned meanwhile
            except OSError as error:
                log.warning("the log %s cannot be rotated: %s", path, error.strerror)

    def _move_away(self, path: Path) -> None:
        with self._lock:
            old = _old(path)
            old.unlink(missing_ok=True)
            try:
                with path.open("rb", buffering=0) as source, old.open("wb", buffering=0) as target:
                    shutil.copyfileobj(source, target)
                    self._empty(path)
            except OSError as error:
                if error.errno not in FULL:
                    raise
                self._note_full(True)
                old.unlink(missing_ok=True)
                self._empty(path)

    def _make_room(self, path: Path) -> bool:
        """Reserve room for the next lines; on a full disk, drop this log's old text to get it."""
        with self._lock, suppress(FileNotFoundError), path.open("rb+") as file:
            if reserved(path) >= RESERVE // 2 or _has_room(file):
                return True
            _old(path).unlink(missing_ok=True)
            self._empty(path)
            _has_room(file)
            return False
        return True  # a worker that started on a full disk has no log

    def _empty(self, path: Path) -> None:
        os.truncate(path, 0)
        self._turns[path.stem] += 1

    @contextmanager
    def _noticing_full(self) -> Iterator[None]:
        try:
            yield
        except OSError as error:
            if error.errno not in FULL:
                raise
            self._note_full(True)
            raise _NoRoomError from error

    def _note_full(self, full: bool) -> None:
        """Remember whether the disk is full, and log each change of that."""
        if full and not self._full:
            log.error("%s: %s", self._folder, NO_ROOM)
        if self._full and not full:
            log.info("%s: there is room again for the logs of workers", self._folder)
        self._full = full

    def _older(self, name: str, lines: int) -> bytes:
        """Lines from before the last rotation, if there was one."""
        try:
            with _old(self._path(name)).open("rb") as file:
                return read_tail(file, lines)
        except FileNotFoundError:
            return b""

    def _path(self, name: str) -> Path:
        """The log file of a worker; a name from outside must not lead out of the folder."""
        if not is_worker_name(name):
            raise UsageError(f"{name!r} cannot be the name of a worker")
        return self._folder / f"{name}.log"


class _NoRoomError(Exception):
    """The disk is full, and the log says so."""


def _old(path: Path) -> Path:
    """The file that takes the text of a log when it is rotated; its earlier text is dropped."""
    return path.with_name(f"{path.name}.1")


def _read_at(path: Path, offset: int) -> bytes | None:
    """One block of a file; None if there is no such file."""
    try:
        with path.open("rb", buffering=0) as file:
            file.seek(offset)
            return file.read(BLOCK)
    except FileNotFoundError:
        return None


def _size(path: Path) -> int:
    try:
        return path.stat().st_size
    except FileNotFoundError:
        return 0


def _has_room(file: BinaryIO) -> bool:
    try:
        reserve(file.fileno())
    except OSError as error:
        if error.errno not in FULL:
            raise
        return False
    return True


def _remove_empty(path: Path) -> None:
    if _size(path) == 0:
        path.unlink(missing_ok=True)
