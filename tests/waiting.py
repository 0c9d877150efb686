"""Waiting for what no event tells of: the world outside this process."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Awaitable, Callable
from typing import TypeVar

T = TypeVar("T")


async def until(look: Callable[[], Awaitable[T]]) -> T:
    """Look again and again until something is seen; the suite's time limit ends a vain wait."""
    while True:
        if seen := await look():
            return seen
        await asyncio.sleep(0.01)


def wait_until(look: Callable[[], T], patience: float) -> T:
    """The same where there is no event loop, with a time limit of its own."""
    end = time.monotonic() + patience
    while not (seen := look()):
        assert time.monotonic() < end, "waited in vain"
        time.sleep(0.01)
    return seen
