"""Real processes for tests, none of which is left afterwards."""

from __future__ import annotations

import sys
from collections.abc import AsyncIterator, Awaitable, Callable
from pathlib import Path
from typing import Any

import pytest

from steelyard.runtime.base import Exit
from steelyard.runtime.process import ProcessRuntime
from steelyard.runtime.procfs import read_stat
from tests.contract.runtimes import kill_marked, process_runtime
from tests.waiting import until

Make = Callable[..., Awaitable[ProcessRuntime]]


@pytest.fixture
async def make(tmp_path: Path) -> AsyncIterator[Make]:
    """Opens runtimes of one folder for a command; all their processes are killed at the end."""
    made: list[ProcessRuntime] = []

    async def open_one(*command: str, **options: Any) -> ProcessRuntime:
        made.append(process_runtime(tmp_path, command, **options))
        await made[-1].open()
        return made[-1]

    yield open_one
    try:
        sweeper = await open_one("true")
        for worker in await sweeper.running():
            await sweeper.stop(worker.name, 0)
        for runtime in made:
            await runtime.close()
    finally:
        kill_marked(tmp_path)


async def next_exit(runtime: ProcessRuntime) -> Exit:
    """Wait for the next end of a worker."""
    return await anext(aiter(runtime.exits()))


async def printed(runtime: ProcessRuntime, name: str, count: int = 1) -> list[str]:
    """The words that the worker printed, as soon as there are at least `count`."""

    async def look() -> list[str]:
        words = (await runtime.logs(name, 1000)).split()
        return words if len(words) >= count else []

    return await until(look)


def alive(pid: int) -> bool:
    """Whether the process lives; a zombie does not."""
    stat = read_stat(pid)
    return stat is not None and stat.alive


def shell(script: str) -> tuple[str, ...]:
    """A command that runs a shell script; its arguments may follow."""
    return ("sh", "-c", script)


def python(script: str) -> tuple[str, ...]:
    """A command that runs a Python program."""
    return (sys.executable, "-c", script)
