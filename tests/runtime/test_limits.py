"""Limits by control groups: real ones where the machine allows them, and notes elsewhere."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from steelyard.core.usage import Allowance
from steelyard.errors import StartError
from steelyard.runtime import cgroup
from steelyard.runtime.base import Exit, Running
from steelyard.runtime.cgroup import ROOT
from steelyard.runtime.procfs import PROC, read_environment
from tests.folders import below
from tests.runtime.conftest import Make, next_exit, printed, python, shell
from tests.waiting import until

MEGA = 2**20
EAT = "blocks = []\nwhile True: blocks.append(bytearray(b'x' * (1 << 20)))"


async def groups_of(worker: Running) -> list[Path]:
    """The control groups that the worker was put in.

    During an exec a process has no environment for a moment.
    """

    async def look() -> str:
        return read_environment(int(worker.handle)).get("STEELYARD_CGROUPS", "")

    return [Path(path) for path in (await until(look)).split(":")]


@pytest.mark.needs("cgroup")
async def test_memory_limit_kills(make: Make) -> None:
    """A worker that exceeds its memory is killed, and the reason says so."""
    runtime = await make(*python(EAT), memory="64MiB")
    assert runtime.notes == []
    worker = await runtime.start("one")
    assert worker.allowance == Allowance(memory=64 * MEGA)
    assert await next_exit(runtime) == Exit("one", "killed by SIGKILL (out of memory?)")


@pytest.mark.needs("cgroup")
async def test_cpu_limit_throttles(make: Make) -> None:
    """A busy worker with a fifth of a core is throttled."""
    runtime = await make(*python("while True: pass"), cpus=0.2)
    worker = await runtime.start("one")
    assert worker.allowance == Allowance(cpus=0.2)
    group, *_ = await groups_of(worker)

    async def throttled() -> int:
        return int((group / "cpu.stat").read_text().split("nr_throttled ")[1].split()[0])

    assert await until(throttled) > 0


@pytest.mark.needs("cgroup")
async def test_limited_worker_is_the_command_itself(make: Make) -> None:
    """The shell that joins the group becomes the command: same pid, leader of its session."""
    runtime = await make("sleep", "1000", cpus=0.5, memory="64MiB")
    worker = await runtime.start("one")
    pid = int(worker.handle)

    async def name() -> bool:
        return (PROC / worker.handle / "comm").read_text() == "sleep\n"

    await until(name)
    assert os.getsid(pid) == pid
    for group in await groups_of(worker):
        assert (group / "cgroup.procs").read_text().split() == [worker.handle]


@pytest.mark.needs("cgroup")
async def test_groups_go_with_the_worker(make: Make) -> None:
    """No control group of a worker is left after its end."""
    runtime = await make("sleep", "1000", cpus=0.5, memory="64MiB")
    groups = await groups_of(await runtime.start("one"))
    await runtime.stop("one", 0)
    assert not [group for group in groups if group.exists()]
    await runtime.close()
    assert not [group.parent for group in groups if group.parent.exists()]


@pytest.mark.needs("cgroup")
async def test_failed_start_leaves_no_group(make: Make) -> None:
    """A command that cannot be run leaves no group behind."""
    runtime = await make("true", "zero\0byte", cpus=0.5)
    with pytest.raises(StartError):
        await runtime.start("never-run")  # a name of its own, as other tests run beside this one
    assert not list(below(ROOT, "never-run"))


@pytest.mark.needs("cgroup")
async def test_adopted_worker_keeps_its_allowance(make: Make) -> None:
    """A worker keeps the limits that it was started with, whatever is configured now."""
    first = await make("sleep", "1000", cpus=0.5, memory="64MiB")
    started = await first.start("one")
    groups = await groups_of(started)
    await first.close()
    second = await make("sleep", "1000", cpus=2.0)
    assert await second.running() == [started]
    assert (await second.start("two")).allowance == Allowance(cpus=2.0)
    await second.stop("one", 0)
    assert not [group for group in groups if group.exists()]


@pytest.mark.needs("cgroup")
async def test_group_left_by_a_killed_agent_is_removed(make: Make) -> None:
    """The empty group of a worker that ended unwatched is removed when an agent starts."""
    first = await make("sleep", "1000", cpus=0.5)
    group, *_ = await groups_of(await first.start("one"))
    left = group.with_name("left")
    left.mkdir()
    second = await make("sleep", "1000", cpus=0.5)
    assert not left.exists()
    assert group.exists()
    await second.stop("one", 0)


def test_parent_that_another_agent_removes_is_made_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Agents share a parent group, and each removes it when it seems to be empty."""
    enable, shared = cgroup._enable, tmp_path / "steelyard"
    removed = []

    def remove(hierarchy: cgroup.Hierarchy, group: Path) -> None:
        enable(hierarchy, group)
        if group == shared and len(removed) < 3:
            removed.append(group)
            cgroup.remove_group(group)

    monkeypatch.setattr(cgroup, "_enable", remove)
    hierarchy = cgroup.Hierarchy("memory", 1, tmp_path)
    group = cgroup.make_group(hierarchy, tmp_path, Path("steelyard/app/one"), MEGA)
    assert group == shared / "app" / "one"
    assert (group / "memory.limit_in_bytes").read_text() == str(MEGA)
    assert len(removed) == 3


def test_group_that_cannot_be_made(tmp_path: Path) -> None:
    """The attempts end if the place itself is gone."""
    hierarchy = cgroup.Hierarchy("memory", 1, tmp_path)
    with pytest.raises(FileNotFoundError, match="gone"):
        cgroup.make_group(hierarchy, tmp_path / "gone" / "place", Path("steelyard/one"), MEGA)


@pytest.fixture
def unified(tmp_path: Path) -> Path:
    """A hierarchy of version 2 as an agent sees it before the first worker."""
    root = tmp_path / "unified"
    root.mkdir()
    (root / "cgroup.controllers").write_text("cpuset cpu io memory pids\n")
    return root


async def test_version_2_files(make: Make, unified: Path) -> None:
    """Version 2 has one group for both limits, and each parent enables the controllers."""
    runtime = await make("sleep", "1000", cpus=0.5, memory="64MiB", cgroups=unified)
    assert runtime.notes == []
    worker = await runtime.start("one")
    [group] = await groups_of(worker)
    assert group.is_relative_to(unified / "steelyard")
    assert (group / "cpu.max").read_text() == "50000 100000"
    assert (group / "memory.max").read_text() == str(64 * MEGA)
    for parent in (unified, group.parent.parent, group.parent):
        assert (parent / "cgroup.subtree_control").read_text() == "+memory"

    async def joined() -> str:
        procs = group / "cgroup.procs"
        return procs.read_text().strip() if procs.exists() else ""

    assert await until(joined) == worker.handle


async def test_version_2_out_of_memory(make: Make, unified: Path) -> None:
    """The counter of killed processes in version 2 is read."""
    script = (
        'printf "low 0\\noom 1\\noom_kill 1\\n" > "$STEELYARD_CGROUPS/memory.events"; kill -9 $$'
    )
    runtime = await make(*shell(script), memory="64MiB", cgroups=unified)
    await runtime.start("one")
    assert await next_exit(runtime) == Exit("one", "killed by SIGKILL (out of memory?)")


async def test_no_controller_is_noted(make: Make, tmp_path: Path) -> None:
    """A machine without controllers runs workers without limits, and says so once."""
    runtime = await make(
        *shell("echo up; exec sleep 1000"), cpus=0.5, memory="64MiB", cgroups=tmp_path / "none"
    )
    assert [note.split(":")[0] for note in runtime.notes] == [
        "runtime.cpus = 0.5 is not enforced",
        "runtime.memory = 67108864 is not enforced",
    ]
    assert (await runtime.start("one")).allowance == Allowance()
    assert await printed(runtime, "one") == ["up"]
    await runtime.start("two")
    assert len(runtime.notes) == 2


@pytest.mark.parametrize("obstacle", ["steelyard", "cgroup.subtree_control"])
async def test_unwritable_hierarchy_is_noted(make: Make, unified: Path, obstacle: str) -> None:
    """If groups cannot be made or controllers not enabled, the note says what failed."""
    if obstacle == "steelyard":
        (unified / obstacle).touch()
    else:
        (unified / obstacle).mkdir()
    runtime = await make("sleep", "1000", cpus=0.5, cgroups=unified)
    [note] = runtime.notes
    assert obstacle in note
    assert (await runtime.start("one")).allowance == Allowance()


def test_group_that_cannot_be_joined(tmp_path: Path) -> None:
    """Joining is tried with a real process, as nothing else shows the right to move one."""
    with pytest.raises(OSError, match="nowhere"):
        cgroup.try_joining(tmp_path / "nowhere")


@pytest.mark.parametrize(
    ("version", "expected"),
    [
        (2, ["", "user.slice", "user.slice/app.scope"]),
        (1, ["", "docker", "docker/1234"]),
    ],
)
def test_places_lead_from_the_root_to_our_own_group(version: int, expected: list[str]) -> None:
    """Candidates are the root of the hierarchy, then each group on the way to our own."""
    memberships = "5:pids:/x\n4:cpu,cpuacct:/docker/1234\n0::/user.slice/app.scope\n"
    hierarchy = cgroup.Hierarchy("cpu", version, Path("/root"))
    found = list(cgroup.places(hierarchy, memberships))
    assert found == [Path("/root") / place for place in expected]


def test_smallest_cpu_limit() -> None:
    """The kernel refuses less than a millisecond per period."""
    assert [cgroup.cpu_quota(cpus) for cpus in (0.0001, 0.5, 3)] == [1000, 50000, 300000]
