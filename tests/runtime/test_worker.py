"""Signals reach the worker that is watched, and never another process."""

from __future__ import annotations

import asyncio
import os
import signal
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from steelyard.runtime.base import Exit
from steelyard.runtime.marks import Mark
from steelyard.runtime.procfs import Process, read_stat
from steelyard.runtime.worker import Worker, look_after
from tests.runtime.conftest import Make, next_exit, printed, python

GRACE = 60.0  # ample: nothing here waits for it

# Of several pending signals `sigwait` takes the lowest number: TERM before the real-time signal.
COUNT = """
import signal
wanted = {signal.SIGTERM, signal.SIGRTMIN}
signal.pthread_sigmask(signal.SIG_BLOCK, wanted)
print("up", flush=True)
while (number := signal.sigwait(wanted)) == signal.SIGTERM:
    print("term", flush=True)
print("end", flush=True)
"""


async def test_second_stop_sends_no_second_term(make: Make) -> None:
    """Two stops send one SIGTERM: some servers take a second one as "hurry"."""
    runtime = await make(*python(COUNT))
    worker = await runtime.start("one")
    await printed(runtime, "one")
    first = asyncio.create_task(runtime.stop("one", GRACE))
    await printed(runtime, "one", 2)
    second = asyncio.create_task(runtime.stop("one", GRACE))
    await asyncio.sleep(0)  # the second stop has asked, and waits
    os.kill(int(worker.handle), signal.SIGRTMIN)
    await asyncio.gather(first, second)
    assert await next_exit(runtime) == Exit("one", "exit code 0")
    assert await printed(runtime, "one", 3) == ["up", "term", "end"]


@pytest.fixture
def other() -> Iterator[subprocess.Popen[bytes]]:
    """A process that got the pid of a worker which has ended."""
    process = subprocess.Popen(["sleep", "1000"], start_new_session=True)
    yield process
    process.kill()
    process.wait()


def gone(pid: int) -> Process:
    """The worker that had the pid before."""
    stat = read_stat(pid)
    assert stat is not None
    return Process(pid, stat.process.started - 1)


async def test_later_process_of_the_pid_gets_no_term(
    other: subprocess.Popen[bytes], tmp_path: Path
) -> None:
    """A process that got the pid of an ended worker is not asked to end."""
    mark = Mark(str(tmp_path), "app", "one", 21000)
    pidfd = os.pidfd_open(other.pid)
    worker = Worker(mark, gone(other.pid), pidfd)
    await worker.ask()
    worker.let_go()
    other.kill()
    assert await asyncio.to_thread(other.wait) == -signal.SIGKILL


async def test_later_process_of_the_pid_is_not_looked_after(
    other: subprocess.Popen[bytes], tmp_path: Path
) -> None:
    """A pid that was reused between the scan and the adoption is not adopted."""
    mark = Mark(str(tmp_path), "app", "one", 21000)
    with pytest.raises(ProcessLookupError):
        look_after(mark, gone(other.pid))
