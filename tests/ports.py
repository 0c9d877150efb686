"""Ports for servers that a test starts, which nobody else takes before the server does.

A port that the kernel picked (a bind to 0, closed at once) may be picked again, for any listener or
outgoing connection, before the server binds it. So our ports are below the kernel's range, and each
process of the suite (`pytest -n`) has a share of its own.
"""

from __future__ import annotations

import itertools
import os
import random

from steelyard.runtime.ports import is_free


def _share(first: int, last: int) -> tuple[int, int]:
    """This process's part of a range."""
    count = int(os.environ.get("PYTEST_XDIST_WORKER_COUNT", "1"))
    index = int(os.environ.get("PYTEST_XDIST_WORKER", "gw0").removeprefix("gw"))
    size = (last - first + 1) // count
    return first + index * size, first + (index + 1) * size - 1


# The value of `runtime.ports` for workers that this process starts: a share of its default.
WORKERS = _share(21000, 29999)
_FIRST, _LAST = _share(10000, 20999)
# Begin at a random port, as others may run the suite beside us.
_steps = itertools.count(random.randrange(_LAST - _FIRST + 1))


def free_ports(count: int) -> list[int]:
    """Consecutive ports that are free."""
    while True:
        first = free_port()
        row = list(range(first, first + count))
        if row[-1] <= _LAST and all(is_free(port) for port in row):
            return row


def free_port() -> int:
    """A free port, which is not given out again for a long time."""
    while True:
        port = _FIRST + next(_steps) % (_LAST - _FIRST + 1)
        if is_free(port):
            return port
