"""Waiting for what no event tells of: the world outside this process."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from typing import TypeVar

T = TypeVar("T")


async def until(look: Callable[[], Awaitable[T]]) -> T:
    """Look again and again until something is seen; the suite's time limit ends a vain wait."""
    while True:
        if seen := await look():
            return seen
        await asyncio.sleep(0.01)
