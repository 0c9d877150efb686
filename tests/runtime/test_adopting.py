"""Local processes are found again by an agent that did not start them."""

from __future__ import annotations

import asyncio
import os
import signal
from pathlib import Path

from steelyard.runtime.base import Exit
from steelyard.runtime.marks import Mark
from steelyard.runtime.procfs import read_environment, read_stat
from steelyard.runtime.worker import wait_for_process
from tests import reaper
from tests.contract.runtimes import start_and_die
from tests.runtime.conftest import Make, alive, next_exit, printed, python, shell

GRACE = 60.0  # ample: nothing here waits for it


async def test_adopted_worker_is_watched_and_stopped(make: Make, tmp_path: Path) -> None:
    """A worker of a killed agent keeps its pid and port, and its end is reported as `gone`."""
    pids = await asyncio.to_thread(
        start_and_die, tmp_path, shell("echo $PORT; sleep 1000"), ["one"]
    )
    runtime = await make("true")
    [worker] = await runtime.running()
    assert worker.handle == str(pids[0])
    assert await printed(runtime, "one") == [str(worker.port)]
    await runtime.stop("one", GRACE)
    assert await next_exit(runtime) == Exit("one", "gone")
    assert not alive(pids[0])


async def test_children_of_an_adopted_worker_end_with_it(make: Make, tmp_path: Path) -> None:
    """The remains of a worker are killed even by an agent that is not their parent."""
    script = shell("setsid sleep 1000 & echo $!; wait")
    [pid] = await asyncio.to_thread(start_and_die, tmp_path, script, ["one"])
    runtime = await make("true")
    child = int((await printed(runtime, "one"))[0])
    os.kill(pid, signal.SIGKILL)
    assert await next_exit(runtime) == Exit("one", "gone")
    assert not alive(child)


async def test_helper_in_its_own_session_is_not_a_worker(make: Make, tmp_path: Path) -> None:
    """Of two session leaders with one mark, the older is the worker."""
    script = shell("setsid sh -c 'echo $$; exec sleep 1000' & wait")
    [pid] = await asyncio.to_thread(start_and_die, tmp_path, script, ["one"])
    runtime = await make("true")
    helper = int((await printed(runtime, "one"))[0])
    assert [worker.handle for worker in await runtime.running()] == [str(pid)]
    assert alive(helper)


async def test_remains_of_a_worker_that_died_unwatched_are_killed(
    make: Make, tmp_path: Path
) -> None:
    """If a worker's leader died while no agent ran, the rest of the worker is killed."""
    script = shell("sleep 1000 & echo $!; wait")
    [pid] = await asyncio.to_thread(start_and_die, tmp_path, script, ["one"])
    first = await make("true")
    child = read_stat(int((await printed(first, "one"))[0]))
    assert child is not None
    await first.close()
    os.kill(pid, signal.SIGKILL)
    second = await make("true")
    assert await second.running() == []
    await wait_for_process(child.process)


FORGET = """
import ctypes, time
fields = open("/proc/self/stat").read().rpartition(")")[2].split()
start, end = int(fields[47]), int(fields[48])  # env_start, env_end: proc_pid_stat(5)
ctypes.memset(start, 0, end - start)
print("forgot", flush=True)
time.sleep(1000)
"""


async def test_worker_that_overwrote_its_environment_is_found(make: Make, tmp_path: Path) -> None:
    """A program that writes its title over the mark, as Puma does, is adopted all the same."""
    first = await make(*python(FORGET))
    worker = await first.start("one")
    await printed(first, "one")
    assert not read_environment(int(worker.handle)).get("STEELYARD_WORKER")
    await first.close()
    second = await make("true")
    assert await second.running() == [worker]
    await second.stop("one", 0)
    assert not alive(int(worker.handle))


async def test_others_are_left_alone(make: Make, tmp_path: Path) -> None:
    """Workers of another folder or application are neither listed nor touched."""
    ours = str(tmp_path)
    strangers = [Mark(ours, "other", "one", 1), Mark(f"{ours}-2", "app", "one", 1)]
    processes = [
        await asyncio.create_subprocess_exec(
            "sleep", "1000", env={**mark.variables(), **reaper.mark()}, start_new_session=True
        )
        for mark in strangers
    ]
    try:
        runtime = await make("sleep", "1000")
        await runtime.start("one")
        assert [worker.name for worker in await runtime.running()] == ["one"]
        await runtime.stop("one", 0)
        assert all(alive(process.pid) for process in processes)
    finally:
        for process in processes:
            process.kill()
            await process.wait()
