"""CPU time and memory of a process and all its descendants, from /proc.

The kernel keeps user and system time in ticks of 10 ms: a round of 2 s is known to 1 %.
"""

from __future__ import annotations

import os
from collections import defaultdict
from typing import NamedTuple

from steelyard.runtime.procfs import PROC, all_stats

_TICKS = os.sysconf("SC_CLK_TCK")
_PAGE = os.sysconf("SC_PAGESIZE")


class Cpu(NamedTuple):
    """Seconds of CPU time."""

    user: float = 0.0
    system: float = 0.0

    @property
    def total(self) -> float:
        return self.user + self.system

    def since(self, before: Cpu) -> Cpu:
        return Cpu(self.user - before.user, self.system - before.system)


def tree(root: int) -> list[int]:
    """The process and its descendants."""
    children = defaultdict(list)
    for stat in all_stats():
        children[stat.parent].append(stat.process.pid)
    found = [root]
    for pid in found:  # the list grows while it is walked
        found += children[pid]
    return found


def cpu_of(root: int) -> Cpu:
    """The CPU time of a process tree so far, including descendants that have ended and were waited
    for.
    """
    times = [_times(pid) for pid in tree(root)]
    return Cpu(sum(user for user, _ in times), sum(system for _, system in times))


def memory_of(root: int) -> int:
    """The bytes of a process tree; pages that several processes share are counted once (PSS)."""
    return sum(_memory(pid, "Pss:") for pid in tree(root))


def anonymous_of(root: int) -> int:
    """The same without pages of files: our share of a library grows when another program releases
    it.
    """
    return sum(_memory(pid, "Pss_Anon:") for pid in tree(root))


def _times(pid: int) -> tuple[float, float]:
    try:
        text = (PROC / str(pid) / "stat").read_bytes()
    except (FileNotFoundError, ProcessLookupError):
        return 0.0, 0.0
    # proc_pid_stat(5): utime, stime, cutime, cstime are 14 to 17; the name may hold brackets.
    own_user, own_system, user, system = map(int, text[text.rindex(b")") + 2 :].split()[11:15])
    return (own_user + user) / _TICKS, (own_system + system) / _TICKS


def _memory(pid: int, line_name: str) -> int:
    try:
        for line in (PROC / str(pid) / "smaps_rollup").read_text().splitlines():
            if line.startswith(line_name):
                return int(line.split()[1]) * 1024
    except OSError:
        pass  # we may not read it, or the kernel is old
    try:
        return int((PROC / str(pid) / "statm").read_text().split()[1]) * _PAGE
    except OSError:
        return 0
