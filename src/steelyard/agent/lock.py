"""One agent per application and state folder: two would start twice as many workers."""

from __future__ import annotations

import fcntl
import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from steelyard.errors import UsageError


@contextmanager
def sole_agent(folder: Path) -> Iterator[None]:
    """Hold the lock of a folder; it goes with the process, however that ends."""
    folder.mkdir(parents=True, exist_ok=True, mode=0o700)
    with (folder / "agent.lock").open("a+") as file:
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
