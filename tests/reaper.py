"""Nothing outlives a process that runs tests, however that process ends: kill -9 included.

Each pytest process (the processes of `pytest -n`, too) has a reaper: a process in a session of its
own that waits for the end of the pytest process. Then the reaper

1. kills every process that the tests started, until there is none left: those that carry the mark
   of this run in their environment, those that were noted, and all their descendants;
2. removes the control groups in which it found those processes;
3. deletes the folder of the run.

Network namespaces and mounts need no step of their own: the tests' namespaces are held by processes
(tests/docker/namespace.py), and the kernel removes them with the last process in them.

Children inherit the mark, also across sessions and daemons, since they inherit the environment. A
program that writes a title over its environment (Redis, nginx) has to be noted by its pid, and a
process that a test starts with an environment of its own gets `mark()` added to that.
"""

from __future__ import annotations

import contextlib
import functools
import os
import select
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

# not STEELYARD_…, as the product refuses variables that it does not know
VARIABLE = "TESTS_OF_STEELYARD"
_PROC = Path("/proc")
_GROUPS = Path("/sys/fs/cgroup")
_PATIENCE = 60.0  # seconds until a process that cannot be killed is left to the kernel


# These functions run in the process that runs tests.


@functools.cache
def folder() -> Path:
    """The folder of this run; the first call starts the reaper."""
    made = Path(tempfile.mkdtemp(prefix="steelyard-tests-"))
    clean = {name: value for name, value in os.environ.items() if name != VARIABLE}
    own = os.pidfd_open(os.getpid())
    words = [sys.executable, "-I", "-S", __file__, str(own), str(made)]
    # The program forks and returns at once: a child of ours would disturb tests that count
    # children, and the reaper of an outer pytest must not take our reaper for a process to kill.
    subprocess.run(words, pass_fds=[own], env=clean, stdin=subprocess.DEVNULL, check=True)
    os.close(own)
    os.environ[VARIABLE] = str(made)
    return made


def mark() -> dict[str, str]:
    """The mark, for a process that does not inherit our environment."""
    return {VARIABLE: str(folder())}


def note(pid: int) -> None:
    """Note a process of ours that overwrites its environment, so that it is killed, too."""
    (folder() / f"{pid}.pid").write_text(_start_time(pid))


# These functions run in the reaper.


def main(watched: int, run: Path) -> None:
    """Wait for the end of the process behind a pidfd, and end all processes that it started."""
    if os.fork():
        return
    os.setsid()
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, signal.SIG_IGN)
    _leave_files_of_others(watched)
    poll = select.poll()
    poll.register(watched, select.POLLIN)
    poll.poll()
    groups: set[Path] = set()
    end = time.monotonic() + _PATIENCE
    while (left := _ours(run)) and time.monotonic() < end:
        for pid in left:
            groups |= _groups_of(pid)
            with contextlib.suppress(ProcessLookupError, PermissionError):
                os.kill(pid, signal.SIGKILL)
        time.sleep(0.01)
    for group in groups - _groups_of(os.getpid()):
        _remove_group(group)
    shutil.rmtree(run, ignore_errors=True)


def _leave_files_of_others(watched: int) -> None:
    """Close inherited files: a pipe to whoever started pytest must not stay open."""
    nothing = os.open(os.devnull, os.O_RDWR)
    for fd in (0, 1, 2):
        os.dup2(nothing, fd)
    os.closerange(3, watched)
    os.closerange(watched + 1, 1024)
    os.chdir("/")


def _ours(run: Path) -> set[int]:
    """The living processes of the run."""
    parents = dict(_living())
    ours = {pid for pid in parents if _is_marked(pid, run)} | set(_noted(run))
    while more := {pid for pid, parent in parents.items() if parent in ours} - ours:
        ours |= more
    return ours & parents.keys()


def _living() -> Iterator[tuple[int, int]]:
    """Yield every process with its parent, without zombies."""
    for name in os.listdir(_PROC):
        if name.isdigit() and (fields := _stat(int(name))) and fields[0] not in "ZX":
            yield int(name), int(fields[1])


def _is_marked(pid: int, run: Path) -> bool:
    with contextlib.suppress(OSError):
        entries = (_PROC / str(pid) / "environ").read_bytes().split(b"\0")
        return f"{VARIABLE}={run}".encode() in entries
    return False


def _noted(run: Path) -> Iterator[int]:
    for file in run.glob("*.pid"):
        pid = int(file.stem)
        if file.read_text() == _start_time(pid):  # otherwise the pid is another process's by now
            yield pid


def _start_time(pid: int) -> str:
    fields = _stat(pid)
    return fields[19] if fields else ""


def _stat(pid: int) -> list[str]:
    """The fields of proc(5) from the state on; empty if there is no such process."""
    try:
        text = (_PROC / str(pid) / "stat").read_text(errors="replace")
    except OSError:
        return []
    return text.rpartition(")")[2].split()


def _groups_of(pid: int) -> set[Path]:
    with contextlib.suppress(OSError):
        return groups_named((_PROC / str(pid) / "cgroup").read_text())
    return set()


def groups_named(text: str) -> set[Path]:
    """The control groups of a process, in each hierarchy, from its file in /proc."""
    found: set[Path] = set()
    for line in text.splitlines():
        _, controllers, path = line.split(":", 2)
        # Version 2 names no controllers; beside version 1 it is mounted apart.
        places = (controllers.removeprefix("name="),) if controllers else ("", "unified")
        found |= {_GROUPS / place / path.lstrip("/") for place in places}
    return found


def _remove_group(group: Path) -> None:
    """Remove a group and the groups above it, if they are empty: the kernel keeps the others."""
    with contextlib.suppress(OSError):
        for one in (group, *group.parents):
            one.rmdir()


if __name__ == "__main__":
    main(int(sys.argv[1]), Path(sys.argv[2]))
