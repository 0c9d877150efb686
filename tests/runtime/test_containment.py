"""A control group holds a worker together: whatever the worker forks ends with it."""

from __future__ import annotations

import asyncio
import os
import shutil
import signal
from pathlib import Path

import pytest

from steelyard.runtime import cgroup
from steelyard.runtime.base import Exit
from steelyard.runtime.cgroup import ROOT
from steelyard.runtime.procfs import read_stat
from steelyard.runtime.worker import DAEMON
from tests.contract.runtimes import process_runtime
from tests.lacking import lacking
from tests.runtime.conftest import Make, alive, next_exit, printed, python
from tests.waiting import until

pytestmark = pytest.mark.needs("cgroup")

# A daemon that forks twice, and also drops its environment and with it the mark.
ESCAPE = """
import os, time
there, say = os.pipe()
os.set_inheritable(say, True)
if os.fork():
    os.read(there, 1)
    {after}
os.setsid()
if os.fork():
    os._exit(0)
script = f"import os, time; print(os.getpid(), flush=1); os.write({{say}}, b'!'); time.sleep(1000)"
os.execve({python!r}, [{python!r}, "-c", script], {{}})
"""


def escape(after: str) -> tuple[str, ...]:
    """A command whose daemon escapes; `after` is what the command does then."""
    executable = shutil.which("python3", path="/usr/bin") or "/usr/bin/python3"
    return python(ESCAPE.format(after=after, python=executable))


@pytest.fixture(params=["version 2", "version 1"])
def hierarchies(request: pytest.FixtureRequest, tmp_path: Path) -> Path:
    """The control groups of a machine that has only this version."""
    root = tmp_path / "cgroups"
    root.mkdir()
    if request.param == "version 2":
        unified = [one for one in (ROOT, ROOT / "unified") if (one / "cgroup.controllers").exists()]
        if not unified:
            lacking("this machine has no control groups of version 2")
        (root / "unified").symlink_to(unified[0])
    else:
        if not (ROOT / "freezer" / "cgroup.procs").exists():
            lacking("this machine has no freezer of version 1")
        (root / "freezer").symlink_to(ROOT / "freezer")
    return root


def joined(pid: int) -> bool:
    """Whether the shell that joins the control group has become the command."""
    return Path(f"/proc/{pid}/comm").read_text() == "sleep\n"


def move_to_root(hierarchies: Path, pid: str) -> None:
    [hierarchy] = hierarchies.iterdir()
    (hierarchy / "cgroup.procs").write_text(pid)


async def test_a_daemon_without_our_mark_ends_with_its_worker(
    make: Make, hierarchies: Path
) -> None:
    """Only its control group tells whose the daemon is, not session, group, parent or mark."""
    runtime = await make(*escape("os._exit(0)"), cgroups=hierarchies)
    await runtime.start("one")
    ended = await next_exit(runtime)
    [daemon] = await printed(runtime, "one")
    assert not alive(int(daemon))
    assert ended == Exit("one", "exit code 0" + DAEMON)


@pytest.mark.parametrize("ending", ["stop", "kill"])
async def test_it_ends_when_the_worker_is_stopped_or_killed(
    make: Make, hierarchies: Path, ending: str
) -> None:
    """The daemon lives as long as its worker, and no longer."""
    runtime = await make(*escape("time.sleep(1000)"), cgroups=hierarchies)
    worker = await runtime.start("one")
    [daemon] = map(int, await printed(runtime, "one"))
    assert alive(daemon)
    if ending == "stop":
        await runtime.stop("one", 0.1)
    else:
        os.kill(int(worker.handle), signal.SIGKILL)
    await next_exit(runtime)
    assert not alive(daemon)


async def test_an_adopted_worker_is_held_together_as_well(
    make: Make, hierarchies: Path, tmp_path: Path
) -> None:
    """The next agent knows the control group from the mark."""
    first = await make(*escape("time.sleep(1000)"), cgroups=hierarchies)
    await first.start("one")
    [daemon] = map(int, await printed(first, "one"))
    await first.close()
    second = await make("true", cgroups=hierarchies)
    await second.stop("one", 0)
    assert not alive(daemon)


async def test_a_process_in_another_control_group_is_refused(
    make: Make, hierarchies: Path, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    """A process outside of the control groups that its sealed mark names is a stranger."""
    first = await make("sleep", "1000", cgroups=hierarchies)
    worker = await first.start("one")
    pid = int(worker.handle)
    await until(lambda: asyncio.to_thread(joined, pid))
    move_to_root(hierarchies, worker.handle)
    await first.close()
    for entry in (tmp_path / "workers").iterdir():
        entry.unlink()  # the register alone would prove that it is a worker
    second = await make("sleep", "1000", cgroups=hierarchies)
    assert await second.running() == []
    assert alive(pid)
    [line] = [one.getMessage() for one in caplog.records if "claims" in one.getMessage()]
    assert f"process {pid} " in line
    assert "not in the control groups that its mark names" in line


async def test_pids_of_others_in_a_file_are_not_believed(tmp_path: Path) -> None:
    """A file that looks like the kernel's does not prove that a process is in a group."""
    group = tmp_path / "steelyard" / "app-0" / "one"
    group.mkdir(parents=True)
    (group / "cgroup.procs").write_text(f"{os.getpid()}\n")
    assert cgroup.members(group) == []


async def test_processes_of_others_are_left_alone(make: Make, hierarchies: Path) -> None:
    """The end of one worker ends no process of another worker or of anybody else."""
    runtime = await make(*escape("time.sleep(1000)"), cgroups=hierarchies)
    await runtime.start("one")
    await runtime.start("two")
    [mine] = map(int, await printed(runtime, "one"))
    [other] = map(int, await printed(runtime, "two"))
    await runtime.stop("one", 0)
    assert not alive(mine)
    assert alive(other)
    await runtime.stop("two", 0)
    assert read_stat(os.getpid()) is not None


async def test_without_a_control_group_workers_start_all_the_same(tmp_path: Path) -> None:
    """Nobody asked for a control group, so its absence is not noted."""
    runtime = process_runtime(tmp_path, ("sleep", "1000"), cgroups=tmp_path / "none")
    await runtime.open()
    await runtime.start("one")
    assert runtime.notes == []
    await runtime.stop("one", 0)
    await runtime.close()
