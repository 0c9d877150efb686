"""Picking a port for a worker."""

from __future__ import annotations

import random
import socket
from collections.abc import Collection

from steelyard.errors import StartError


def free_port(bounds: tuple[int, int], taken: Collection[int], rng: random.Random) -> int:
    """A port within the bounds that nobody listens on, nor `taken`.

    The walk begins at random: a port given out is not bound before the worker has booted, and
    two agents that count from the same end would choose the same one in that time.
    """
    first, last = bounds
    count = last - first + 1
    offset = rng.randrange(count)
    for step in range(count):
        port = first + (offset + step) % count
        if port not in taken and is_free(port):
            return port
    raise StartError(
        f"no free port from {first} to {last}", hint="widen `ports` in the [runtime] section"
    )


def is_free(port: int) -> bool:
    """Whether 127.0.0.1 can be bound: not when someone listens there or on all addresses."""
    with socket.socket() as probe:
        try:
            probe.bind(("127.0.0.1", port))
        except OSError:
            return False
    return True
