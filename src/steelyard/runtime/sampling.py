"""The counters of workers, each summed over the worker's family of processes.

Memory is anonymous and shared memory, without mapped files, which are page cache (core.usage). For
a single process RssAnon + RssShmem is exact. With several processes, pages shared since a fork
would count once per process; so each process's proportional share is read from smaps_rollup, for
which the kernel walks every page. Measured with 8 workers, one read each: `status` takes 0.2 ms at
any size; `smaps_rollup` takes 7 ms at 50 MB each, 36 ms at 400 MB, 131 ms at 1.5 GB. So
smaps_rollup is read only for workers of several processes.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path

from steelyard.core.usage import Sample
from steelyard.runtime.procfs import PROC, Process, Stat
from steelyard.runtime.scan import families

_PLAIN = ("RssAnon", "RssShmem")
_SHARED = ("Pss_Anon", "Pss_Shmem")


def sample_workers(workers: Mapping[str, Process], clock: Callable[[], float]) -> dict[str, Sample]:
    """The counters of each worker that lives."""
    found = families(workers.values())
    return {
        name: sample_family(found[process], clock())
        for name, process in workers.items()
        if process in found
    }


def sample_family(family: list[Stat], at: float) -> Sample:
    """The counters of one worker, without network: psutil and /proc count that per machine."""
    alive = [stat.process.pid for stat in family if stat.alive]
    return Sample(
        at=at,
        cpu_seconds=sum(stat.cpu_seconds for stat in family),
        memory=_own_memory(alive[0]) if len(alive) == 1 else sum(map(_shared_memory, alive)),
        cpu_wait_seconds=sum(map(cpu_wait, alive)),
    )


def _own_memory(pid: int) -> int:
    return _kilobytes(PROC / str(pid) / "status", _PLAIN)


def _shared_memory(pid: int) -> int:
    """The proportional share; before Linux 5.9, which lacks it, the process's own figure."""
    return _kilobytes(PROC / str(pid) / "smaps_rollup", _SHARED) or _own_memory(pid)


def _kilobytes(path: Path, names: tuple[str, ...]) -> int:
    lines = (line.partition(":") for line in _read(path).splitlines())
    return sum(int(value.split()[0]) * 1024 for name, _, value in lines if name in names)


def cpu_wait(pid: int) -> float:
    """Seconds that the threads of a process waited on a run queue: field 2 of schedstat, in ns."""
    threads = (PROC / str(pid) / "task").glob("*/schedstat")
    return sum(int(text.split()[1]) for path in threads if (text := _read(path))) / 1e9


def _read(path: Path) -> str:
    """The text of a file in /proc; empty if the process or the file does not exist."""
    try:
        return path.read_text(errors="replace")
    except OSError:
        return ""
