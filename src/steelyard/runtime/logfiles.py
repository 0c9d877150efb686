"""The workers' log files: one per worker, kept for a while after its end."""

from __future__ import annotations

import io
import os
from collections.abc import Collection
from pathlib import Path
from typing import BinaryIO

from steelyard.errors import UsageError

KEPT = 20  # of ended workers: enough to see why the last ones died, and no disk fills up
_BLOCK = 64 * 1024


class LogFiles:
    """A folder of log files."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder

    def open(self) -> None:
        """Make the folder."""
        try:
            self._folder.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise UsageError(
                f"no folder for the workers' logs: {error}", hint="choose another with --state"
            ) from error

    def append(self, name: str) -> BinaryIO:
        """The worker's file, to be written at its end."""
        return self._path(name).open("ab")

    def tail(self, name: str, lines: int) -> str:
        """The last lines of a worker, running or not."""
        try:
            with self._path(name).open("rb") as file:
                return read_tail(file, lines).decode(errors="replace")
        except FileNotFoundError:
            raise UsageError(
                f"no log of a worker {name!r}",
                hint="`steelyard status` shows the names; logs of long ended workers are deleted",
            ) from None

    def prune(self, running: Collection[str]) -> None:
        """Delete the logs of ended workers but for the newest."""
        ended = [path for path in self._folder.glob("*.log") if path.stem not in running]
        ended.sort(key=lambda path: path.stat().st_mtime_ns, reverse=True)
        for path in ended[KEPT:]:
            path.unlink(missing_ok=True)

    def _path(self, name: str) -> Path:
        """Names come from outside, too: one must not lead out of the folder."""
        if not name or name.startswith(".") or "/" in name or "\0" in name:
            raise UsageError(f"{name!r} cannot be the name of a worker")
        return self._folder / f"{name}.log"


def read_tail(file: BinaryIO, lines: int) -> bytes:
    """The last lines, read from the end: a log may be larger than memory."""
    if lines <= 0:
        return b""
    position = file.seek(0, os.SEEK_END)
    text = b""
    while position > 0 and text.count(b"\n") <= lines:
        size = min(_BLOCK, position)
        position = file.seek(position - size)
        text = file.read(size) + text
    return b"".join(io.BytesIO(text).readlines()[-lines:])  # not splitlines: \\r ends no line
