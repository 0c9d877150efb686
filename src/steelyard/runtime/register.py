"""Files with the marks of running workers, for programs that overwrite their environment.

Some programs write a title over their environment in memory, and over the mark with it: Ruby's `$0
=` (Puma), nginx, php-fpm, PostgreSQL. The file is a second source, never the only one: it counts
for exactly the process that it names, in this boot of the machine. A worker whose agent was killed
before it wrote the file is still recognised by its environment.
"""

from __future__ import annotations

import contextlib
import json
import os
from collections.abc import Collection
from pathlib import Path

from steelyard.runtime.marks import Mark, read_mark
from steelyard.runtime.procfs import PROC, Process


class Register:
    """A folder with one file per worker."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder

    def enter(self, mark: Mark, process: Process) -> None:
        """Write the file of a worker; on a full disk, the worker runs without one."""
        entry = {
            "boot": _boot(),
            "pid": process.pid,
            "started": process.started,
            "mark": mark.variables(),
        }
        with contextlib.suppress(OSError):
            self._folder.mkdir(parents=True, exist_ok=True)
            new = self._folder / f"{mark.name}.new"
            new.write_text(json.dumps(entry))
            new.rename(self._folder / f"{mark.name}.json")

    def has(self, name: str) -> bool:
        """Whether the worker has a file."""
        return (self._folder / f"{name}.json").exists()

    def strike(self, name: str) -> None:
        """Delete the file of a worker that ended."""
        with contextlib.suppress(OSError):
            (self._folder / f"{name}.json").unlink()

    def entries(self) -> dict[Process, Mark]:
        """The processes entered since the machine booted, alive or not, each with its mark."""
        found: dict[Process, Mark] = {}
        boot = _boot()
        for path in self._folder.glob("*.json"):
            with contextlib.suppress(OSError, ValueError, KeyError, TypeError):
                entry = json.loads(_read_own(path))
                mark = read_mark(entry["mark"])
                if entry["boot"] == boot and mark is not None and mark.name == path.stem:
                    found[Process(entry["pid"], entry["started"])] = mark
        return found

    def prune(self, running: Collection[str]) -> None:
        """Delete the files of workers that ended while no agent was running."""
        for path in self._folder.glob("*.json"):
            if path.stem not in running:
                self.strike(path.stem)


def _read_own(path: Path) -> bytes:
    """Read a file if our own user wrote it, since it decides which process is a worker."""
    with path.open("rb") as file:
        if os.fstat(file.fileno()).st_uid != os.geteuid():
            raise PermissionError(path)
        return file.read()


def _boot() -> str:
    return (PROC / "sys/kernel/random/boot_id").read_text().strip()
