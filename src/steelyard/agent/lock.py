"""The lock: one agent for each application and state folder. Two would start twice as many workers.

Agents that take turns by a lease (claimant) hold the lock as a shared one, so that an agent without
a lease cannot join them.
"""

from __future__ import annotations

import fcntl
import os
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TextIO

from steelyard.errors import UsageError


@contextmanager
def sole_agent(folder: Path, *, shared: bool = False) -> Iterator[None]:
    """Hold the lock of a folder; the kernel releases it when the process ends, however it ends."""
    kind = fcntl.LOCK_SH if shared else fcntl.LOCK_EX
    with _open(folder) as file:
        try:
            fcntl.flock(file, kind | fcntl.LOCK_NB)
        except BlockingIOError:
            file.seek(0)
            raise UsageError(
                f"an agent of application {folder.name} is already running ({file.read().strip()})",
                hint="use another --name, or another --state, or stop the other one; "
                "several agents can take turns when all of them have --lease",
            ) from None
        with suppress(OSError):  # on a full disk the lock works without the name of its holder
            file.truncate(0)
            os.write(file.fileno(), b"with --lease\n" if shared else b"pid %d\n" % os.getpid())
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
