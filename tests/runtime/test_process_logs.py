"""Logs of real processes while they run."""

from __future__ import annotations

import asyncio
import os
import signal
from pathlib import Path

from tests.contract.runtimes import kill_marked, process_runtime
from tests.waiting import until

# Prints a long line, and a short one for each SIGUSR1.
SPEAKER = "trap 'echo again' USR1; printf '%04000d\n' 7; while :; do sleep 0.05; done"


async def test_the_log_of_a_living_worker_is_rotated_and_followed(tmp_path: Path) -> None:
    """The runtime rotates by itself; a follower gets each line once, across the rotation."""
    runtime = process_runtime(tmp_path, ("sh", "-c", SPEAKER), log_size=1000)
    await runtime.open()
    try:
        worker = await runtime.start("one")
        old = tmp_path / "logs" / "one.log.1"
        lines = runtime.lines("one", None, lambda line: True, follow=True)
        first = await anext(lines)
        await until(lambda: asyncio.sleep(0, old.exists() and old.stat().st_size > 4000))
        await until(lambda: asyncio.sleep(0, not (tmp_path / "logs" / "one.log").stat().st_size))
        os.kill(int(worker.handle), signal.SIGUSR1)
        second = await anext(lines)
        await runtime.stop("one", 0)
        rest = [line async for line in lines]
    finally:
        await runtime.close()
        kill_marked(tmp_path)
    assert (len(first.text), second.text, rest) == (4000, "again", [])
    assert first.at is not None
    assert second.at is not None
    assert second.at >= first.at


async def test_a_last_line_without_a_newline_is_one_of_the_last_lines(tmp_path: Path) -> None:
    """`logs -n 2` shows two lines, whether the worker has ended its last line or not."""
    runtime = process_runtime(tmp_path, ("sh", "-c", "printf 'a\nb\nc'; exec sleep 600"))
    await runtime.open()
    try:
        await runtime.start("one")
        await until(lambda: asyncio.sleep(0, (tmp_path / "logs" / "one.log").stat().st_size == 5))
        for last, wanted in ((2, ["b", "c"]), (0, []), (9, ["a", "b", "c"])):
            lines = runtime.lines("one", last, lambda line: True, follow=False)
            assert [line.text async for line in lines] == wanted
    finally:
        await runtime.close()
        kill_marked(tmp_path)
