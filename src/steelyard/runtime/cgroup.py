"""Control groups (cgroups), versions 1 and 2: the kernel's files for limiting CPU and memory.

They also tell which processes belong to a worker, whatever it forks.

    <hierarchy>/<place>/steelyard/<application>-<folder's hash>/<worker>

Version 1 has one hierarchy per controller, version 2 has one for all controllers; hybrid systems
have both. The place is the highest group below which this process may create groups: for root the
root of the hierarchy, for other users a delegated group between the root and the process's own
group. Only a trial shows whether a place works: version 2 demands a group without processes of its
own, and to move a process takes rights on both the old and the new group. Source:
Documentation/admin-guide/cgroup-v2.rst and cgroup-v1/ of the kernel.
"""

from __future__ import annotations

import contextlib
import errno
import os
import shlex
import signal
import subprocess
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

ROOT = Path("/sys/fs/cgroup")
NO_CONTROLLER = ""  # in version 2 a group holds processes together without any controller
FREEZER = "freezer"
PERIOD = 100_000  # µs, the kernel's default
_LEAST_QUOTA = 1_000  # µs, the kernel refuses a smaller quota
_ATTEMPTS = 20  # to create a group whose parents another agent may remove meanwhile
# Errors when another agent removes a parent group meanwhile: mkdir in it, a write to a file in it,
# and mkdir(exist_ok=True) that found the folder and then saw it vanish.
_GONE = {errno.ENOENT, errno.ENODEV, errno.EEXIST}


@dataclass(frozen=True, slots=True)
class Hierarchy:
    """The hierarchy of one controller, and its version."""

    controller: str
    version: int
    root: Path


def find_hierarchy(root: Path, controller: str) -> Hierarchy | None:
    """Find the hierarchy of a controller; a controller is never in both versions at a time."""
    for unified in (root, root / "unified"):
        if controller in _words(unified / "cgroup.controllers"):
            return Hierarchy(controller, 2, unified)
    if (root / controller / "cgroup.procs").exists():
        return Hierarchy(controller, 1, root / controller)
    return None


def find_containment(root: Path) -> Hierarchy | None:
    """Find the hierarchy in which a group without limits holds a worker's processes together.

    Version 2 can kill a whole group at once (cgroup.kill, Linux 5.14). The freezer of version 1
    keeps the processes of a group from forking while they are killed.
    """
    for unified in (root, root / "unified"):
        if (unified / "cgroup.controllers").exists():
            return Hierarchy(NO_CONTROLLER, 2, unified)
    if (root / FREEZER / "cgroup.procs").exists():
        return Hierarchy(FREEZER, 1, root / FREEZER)
    return None


def places(hierarchy: Hierarchy, memberships: str) -> Iterator[Path]:
    """Yield the groups from the root of the hierarchy to our own, as /proc/self/cgroup names it."""
    place = hierarchy.root
    yield place
    for part in Path(_own_group(hierarchy, memberships)).parts[1:]:
        place = place / part
        yield place


def _own_group(hierarchy: Hierarchy, memberships: str) -> str:
    for line in memberships.splitlines():
        _, controllers, path = line.split(":", 2)
        listed = [""] if hierarchy.version == 2 else [hierarchy.controller]
        if set(listed) & set(controllers.split(",")):
            return path
    return "/"


def cpu_quota(cpus: float) -> int:
    """Convert a number of CPUs to microseconds of CPU time per period."""
    return max(_LEAST_QUOTA, round(cpus * PERIOD))


def limit_files(hierarchy: Hierarchy, value: float) -> dict[str, str]:
    """The files that hold the limit, each with the text to write to it."""
    match hierarchy.controller, hierarchy.version:
        case (("" | "freezer"), _):
            return {}
        case "cpu", 1:
            return {"cpu.cfs_period_us": f"{PERIOD}", "cpu.cfs_quota_us": f"{cpu_quota(value)}"}
        case "cpu", 2:
            return {"cpu.max": f"{cpu_quota(value)} {PERIOD}"}
        case "memory", 1:
            return {"memory.limit_in_bytes": f"{int(value)}"}
        case _:
            return {"memory.max": f"{int(value)}"}


def make_group(hierarchy: Hierarchy, place: Path, path: Path, value: float) -> Path:
    """Create the group `path` below `place` with its limit; raise OSError if that fails.

    Another agent shares the parent groups, and may remove one of them while it is still empty. So
    the attempt is repeated.
    """
    for _ in range(_ATTEMPTS):
        try:
            return _make_group(hierarchy, place / path, place, value)
        except OSError as error:
            if error.errno not in _GONE:
                raise
            last = error
    raise last


def _make_group(hierarchy: Hierarchy, group: Path, place: Path, value: float) -> Path:
    for parent in reversed(group.parents):
        if parent.is_relative_to(place):
            parent.mkdir(exist_ok=True)
            _enable(hierarchy, parent)
    group.mkdir(exist_ok=True)
    for name, text in limit_files(hierarchy, value).items():
        (group / name).write_text(text)
    return group


def _enable(hierarchy: Hierarchy, group: Path) -> None:
    """Pass the controller on to child groups; in version 2 each parent has to enable it."""
    control = group / "cgroup.subtree_control"
    wanted = hierarchy.controller
    if hierarchy.version == 2 and wanted != NO_CONTROLLER and wanted not in _words(control):
        control.write_text(f"+{hierarchy.controller}")


def joining(groups: Iterable[Path], command: tuple[str, ...]) -> tuple[str, ...]:
    """Wrap the command in a shell that first joins the groups and then becomes the command.

    The pid stays the same, and no Python code runs between fork and exec (preexec_fn may deadlock
    in a program with threads).
    """
    steps = [f"echo $$ > {shlex.quote(str(group / 'cgroup.procs'))}" for group in groups]
    if not steps:
        return command
    return ("/bin/sh", "-c", " && ".join([*steps, 'exec "$@"']), "sh", *command)


def try_joining(group: Path) -> None:
    """Raise OSError if a process of ours may not enter the group."""
    done = subprocess.run(joining([group], ("true",)), capture_output=True, text=True)
    if done.returncode != 0:
        raise OSError(done.stderr.strip() or f"{group} cannot be joined")


def members(group: Path) -> list[int]:
    """The pids in a worker's group, and in groups that the worker made below it.

    A pid in the file counts only if the process's own /proc file names the same group. So a pid
    that stands in a forged file is not believed.
    """
    found: list[int] = []
    for path in _tree(group):
        found += [int(word) for word in _words(path / "cgroup.procs") if _says(word, group)]
    return found


def _tree(group: Path) -> list[Path]:
    """The group and the groups below it. Another agent may remove one of them meanwhile."""
    try:
        return [group, *(one for one in group.glob("**/") if one != group)]
    except FileNotFoundError:
        return [group]


def _says(pid: str, group: Path) -> bool:
    """Whether the process is in a group that ends with steelyard/APPLICATION/WORKER."""
    try:
        memberships = Path("/proc", pid, "cgroup").read_text()
    except OSError:
        return False
    name = "/".join(("", *group.parts[-3:], ""))
    return any(name in f"{line}/" for line in memberships.splitlines())


def is_within(pid: int, group: Path) -> bool:
    """Whether the process is in the group, or in one below it."""
    return any(str(pid) in _words(path / "cgroup.procs") for path in _tree(group))


def kill_members(group: Path) -> None:
    """Kill all processes of a group, and all that they fork meanwhile."""
    with contextlib.suppress(OSError):
        if (group / "cgroup.kill").exists():
            (group / "cgroup.kill").write_text("1")
        elif (group / "freezer.state").exists():
            _kill_frozen(group)


def _kill_frozen(group: Path) -> None:
    (group / "freezer.state").write_text("FROZEN")
    try:
        for pid in members(group):
            with contextlib.suppress(ProcessLookupError):
                # a frozen process cannot end, so its pid is not reused
                os.kill(pid, signal.SIGKILL)
    finally:
        (group / "freezer.state").write_text("THAWED")


def remove_group(group: Path) -> None:
    """Delete a group, if it is empty."""
    with contextlib.suppress(OSError):
        group.rmdir()


def ran_out_of_memory(group: Path) -> bool:
    """Whether the kernel killed a process of this group for lack of memory.

    Version 1 tells that since Linux 4.13.
    """
    return any(
        int(_pairs(group / name).get("oom_kill", "0")) > 0
        for name in ("memory.events", "memory.oom_control")
    )


def _pairs(path: Path) -> Mapping[str, str]:
    words = _words(path)
    return dict(zip(words[::2], words[1::2], strict=False))


def _words(path: Path) -> list[str]:
    try:
        return path.read_text().split()
    except OSError:
        return []
