"""Virtual time for asyncio: a task that waits for time to pass is woken at once, in order.

A test of leases and pauses then takes no time, and no load of the machine can make it late.
"""

from __future__ import annotations

import asyncio
import functools
import selectors
from collections.abc import Awaitable, Callable
from typing import Any


class _Selector(selectors.DefaultSelector):  # type: ignore[misc,valid-type]
    """Waits for files only if nothing waits for time; otherwise the clock jumps."""

    now = 0.0

    def select(self, timeout: float | None = None) -> Any:
        if timeout is None:
            return super().select()
        ready = super().select(0)
        if not ready:
            self.now += max(0.0, timeout)
        return ready


class _Loop(asyncio.SelectorEventLoop):
    def __init__(self) -> None:
        self._virtual = _Selector()
        super().__init__(self._virtual)

    def time(self) -> float:
        return self._virtual.now


def clock() -> float:
    """The time of the running loop."""
    return asyncio.get_running_loop().time()


def in_virtual_time(test: Callable[..., Awaitable[None]]) -> Callable[..., None]:
    """Run an async test in a loop of its own, whose time is virtual."""

    @functools.wraps(test)
    def run(*args: Any, **named: Any) -> None:
        with asyncio.Runner(loop_factory=_Loop) as runner:
            runner.run(test(*args, **named))  # type: ignore[arg-type]

    return run
