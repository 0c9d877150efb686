"""One agent per application and state folder: two would start twice as many workers."""

from __future__ import annotations

import fcntl
import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TextIO

from steelyard.errors import UsageError


@contextmanager
def sole_agent(folder: Path) -> Iterator[None]:
    """Hold the lock of a folder; it goes with the process, however that ends."""
    with _open(folder) as file:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            file.seek(0)
            raise UsageError(
                f"an agent of application {folder.name} runs already (pid {file.read().strip()})",
                hint="use another --name, or another --state, or stop the other one",
            ) from None
        file.truncate(0)
        file.write(f"{os.getpid()}\n")
        file.flush()
        yield


def _open(folder: Path) -> TextIO:
    try:
        folder.mkdir(parents=True, exist_ok=True, mode=0o700)
        return (folder / "agent.lock").open("a+")
    except OSError as error:
        raise UsageError(
            f"the state folder {folder} cannot be used: {error.strerror}",
            hint="choose another with --state",
        ) from error
