"""The time that a container's processes waited for a core, which no engine tells.

If the engine runs on this machine, the processes of its containers are visible in /proc, by the
control group that bears the container's id. Otherwise the wait is unknown, and counts as none
(docs/decisions/0016).
"""

from __future__ import annotations

from pathlib import Path

from steelyard.runtime import cgroup
from steelyard.runtime.procfs import PROC
from steelyard.runtime.sampling import cpu_wait


def find_group(id: str, pid: int, root: Path = cgroup.ROOT) -> Path | None:  # noqa: A002
    """The control group of a container, by the pid of its first process; None if it is not visible.

    If the engine is on another machine, or the agent is in a container, the pid is another
    process's.
    """
    hierarchy = cgroup.find_hierarchy(root, "cpu")
    try:
        memberships = (PROC / str(pid) / "cgroup").read_text()
    except OSError:
        return None
    if hierarchy is None:
        return None
    *_, group = cgroup.places(hierarchy, memberships)
    return group if id in group.name else None


def waited(group: Path | None) -> float:
    """Seconds that all threads of the group were ready to run and waited for a core."""
    if group is None:
        return 0.0
    try:
        pids = (group / "cgroup.procs").read_text().split()
    except OSError:
        return 0.0
    return sum(cpu_wait(int(pid)) for pid in pids)
