"""Waits for conditions that no event reports, in the world outside this process."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Awaitable, Callable
from typing import TypeVar

T = TypeVar("T")


async def until(look: Callable[[], Awaitable[T]]) -> T:
    """Look again and again until the result is true; the suite's time limit ends a vain wait."""
    while True:
        if seen := await look():
            return seen
        await asyncio.sleep(0.01)


def wait_until(look: Callable[[], T], patience: float) -> T:
    """The same without an event loop, with a time limit of its own."""
    end = time.monotonic() + patience
    while not (seen := look()):
        assert time.monotonic() < end, "waited in vain"
        time.sleep(0.01)
    return seen
