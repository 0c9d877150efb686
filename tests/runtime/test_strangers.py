"""Processes of strangers that carry our marks are logged, and otherwise left alone."""

from __future__ import annotations

import asyncio
import logging
import os
import signal
from collections.abc import AsyncIterator, Awaitable, Callable
from dataclasses import replace
from pathlib import Path

import pytest

from steelyard.runtime.marks import Mark, read_mark
from steelyard.runtime.procfs import read_environment
from tests import reaper
from tests.runtime.conftest import Make, alive
from tests.waiting import until

NOBODY = 65534  # the user that owns nothing, on every Linux
Stranger = Callable[..., Awaitable[int]]


@pytest.fixture
async def stranger() -> AsyncIterator[Stranger]:
    """Starts processes in sessions of their own with a given environment; ends them afterwards."""
    started: list[asyncio.subprocess.Process] = []

    async def start(variables: dict[str, str], user: int | None = None) -> int:
        process = await asyncio.create_subprocess_exec(
            *("sleep", "1000"),
            env={**variables, **reaper.mark()},
            user=user,
            start_new_session=True,
            cwd="/",
        )
        started.append(process)
        return process.pid

    yield start
    for process in started:
        if process.returncode is None:
            process.kill()
        await process.wait()


async def environment(pid: int) -> dict[str, str]:
    """The environment of a process that was just started: the kernel shows it late."""

    async def look() -> dict[str, str]:
        return read_environment(pid)

    return await until(look)


def told(caplog: pytest.LogCaptureFixture) -> list[str]:
    return [record.getMessage() for record in caplog.records if "claims" in record.getMessage()]


@pytest.mark.parametrize(
    ("name", "problem"),
    [
        ("steelyard-app-deadbeef", "seal"),
        ("one", "seal"),
        ("../../victim", "malformed"),
        ("{folder}/victim", "malformed"),
        ("one\nforged line", "malformed"),
        ("", "malformed"),
        ("x" * 300, "malformed"),
    ],
)
@pytest.mark.parametrize(
    "user", [None, pytest.param(NOBODY, marks=pytest.mark.needs("root"))], ids=["own", "nobody"]
)
async def test_a_mark_without_our_seal_is_refused(
    make: Make,
    stranger: Stranger,
    tmp_path: Path,
    caplog: pytest.LogCaptureFixture,
    name: str,
    problem: str,
    user: int | None,
) -> None:
    """A stranger is never a worker, its name never becomes a path, and it is logged once."""
    caplog.set_level(logging.WARNING)
    victim, group = tmp_path / "victim.json", tmp_path / "group"
    victim.write_text("precious")
    group.mkdir()
    wanted = name.format(folder=tmp_path)
    mark = Mark(str(tmp_path), "app", wanted, 21000, groups=(group,), seal="0" * 64)
    pid = await stranger({**mark.variables(), "STEELYARD_WORKER": wanted}, user)
    runtime = await make("sleep", "1000")
    assert await runtime.running() == []
    assert alive(pid)
    assert victim.read_text() == "precious"
    assert group.is_dir()
    [line] = told(caplog)
    assert f"process {pid} " in line
    assert problem in line
    assert "\n" not in line


@pytest.mark.needs("root")
async def test_a_copied_seal_helps_no_other_user(make: Make, stranger: Stranger) -> None:
    """A process of another user with the seal of a dead worker does not replace it."""
    first = await make("sleep", "1000")
    worker = await first.start("one")
    await first.close()
    await stranger(await environment(int(worker.handle)), NOBODY)
    os.kill(int(worker.handle), signal.SIGKILL)
    second = await make("true")
    assert await second.running() == []


async def test_a_seal_fits_no_other_name_or_port(make: Make, stranger: Stranger) -> None:
    """A worker cannot use its own seal for a second worker."""
    first = await make("sleep", "1000")
    worker = await first.start("one")
    mark = read_mark(await environment(int(worker.handle)))
    assert mark is not None
    pids = [
        await stranger(replace(mark, name="two").variables()),
        await stranger(replace(mark, port=mark.port + 1).variables()),
    ]
    second = await make("true")
    assert [found.handle for found in await second.running()] == [worker.handle]
    assert all(map(alive, pids))


@pytest.mark.needs("root")
async def test_a_worker_that_changed_its_user_is_known_by_the_register(
    make: Make, tmp_path: Path
) -> None:
    """A command that gives up root, as gosu does, is adopted: the register names its process."""
    command = ("setpriv", f"--reuid={NOBODY}", f"--regid={NOBODY}", "--clear-groups")
    first = await make(*command, "sleep", "1000")
    worker = await first.start("one")
    await first.close()
    second = await make("true")
    assert await second.running() == [worker]


async def test_strangers_are_not_swept_with_a_worker(make: Make, stranger: Stranger) -> None:
    """The end of a worker ends no process that only carries the worker's name."""
    runtime = await make("sleep", "1000")
    worker = await runtime.start("one")
    mark = read_mark(await environment(int(worker.handle)))
    assert mark is not None
    pid = await stranger(replace(mark, seal="0" * 64).variables())
    await runtime.stop("one", 0)
    assert not alive(int(worker.handle))
    assert alive(pid)
