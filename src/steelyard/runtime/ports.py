"""Picks a free port for a worker."""

from __future__ import annotations

import random
import socket
from collections.abc import Collection

from steelyard.errors import StartError


def free_port(bounds: tuple[int, int], taken: Collection[int], rng: random.Random) -> int:
    """A port within the bounds that nobody listens on and that is not in `taken`.

    The search begins at a random port: a worker binds its port only when it has booted, and two
    agents that search from the same end would choose the same port in that time.
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
    """Whether 127.0.0.1:port can be bound; a listener there or on all addresses prevents it."""
    with socket.socket() as probe:
        try:
            probe.bind(("127.0.0.1", port))
        except OSError:
            return False
    return True
